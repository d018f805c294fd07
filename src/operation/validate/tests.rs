//! What `validate` tells of whole configurations.
