/** Part of the vault is damaged or missing, although the file system reported no error. */
export class Damage extends Error {}

export const damagedAt = (segment: number, byte: number): Damage =>
  new Damage(`segment ${segment} is damaged at byte ${byte}`)
