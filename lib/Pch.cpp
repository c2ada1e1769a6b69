// The owner of the precompiled header that all of Attune's libraries share; see Pch.h.
