"""(Filled by the room's owner.)"""
