/** Damage that the files of the vault show themselves, whatever the disk says. */
export class Damage extends Error {}

export const damagedAt = (segment: number, byte: number): Damage =>
  new Damage(`segment ${segment} is damaged at byte ${byte}`)
