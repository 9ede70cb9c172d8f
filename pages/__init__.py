"""The pages, one file each; what begins with an underscore is theirs to share."""
