/** Ids of locations, and the references to their tokens. */

/** An id becomes the name of a folder, and a part of a reference that may be a command. */
export const isLocationId = (text: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(text)

/** A reference that the database may contain. A command would let everybody who can write there run programs on workers. */
export const isStoredReference = (text: string): boolean => /^(env:\w+|file:\/.+)$/.test(text)

/** `file:/run/secrets/{location}` of one location. */
export const referenceFor = (template: string | undefined, location: string): string | undefined =>
  template?.replaceAll("{location}", location)
