/** Part of the vault is damaged or missing, although the file system reported no error. */
export class Damage extends Error {}

/** A version before 1.0.0 wrote the vault, in another format. */
export class Older extends Error {}

export const damagedAt = (segment: number, byte: number): Damage =>
  new Damage(`segment ${segment} is damaged at byte ${byte}`)
