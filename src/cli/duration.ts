/** Durations as flags have them. */
const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a text such as 30s, 10m, 26h or 7d. Throws for any other text. */
export const parseDuration = (text: string): number => {
  const [, count, unit] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? []
  if (count === undefined) throw new Error("expected a number and a unit: 30s, 10m, 26h or 7d")
  return Number(count) * unitMs[unit!]!
}
