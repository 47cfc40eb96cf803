"""The project folder: load, edit, save, recover, and the samples that ship with the program."""

from workbench.engine.projects.errors import ChangedOnDisk, ProjectError
from workbench.engine.projects.files import PROJECT_FILE, WORKBENCH_FOLDER, inside
from workbench.engine.projects.project import Project, ThresholdOrigin, find_project
from workbench.engine.projects.recovery import RecoveryInfo
from workbench.engine.projects.samples import SampleInfo, copy_sample, list_samples, sample_folder
from workbench.engine.projects.snapshot import ProjectSnapshot

__all__ = [
    "PROJECT_FILE",
    "WORKBENCH_FOLDER",
    "ChangedOnDisk",
    "Project",
    "ProjectError",
    "ProjectSnapshot",
    "RecoveryInfo",
    "SampleInfo",
    "ThresholdOrigin",
    "copy_sample",
    "find_project",
    "inside",
    "list_samples",
    "sample_folder",
]
