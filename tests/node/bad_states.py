"""What an administrator sees where something is not as it should be: one clear line each."""


def check_bad_states(story, node, before_provisioning):
    pass
