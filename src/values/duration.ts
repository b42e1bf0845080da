/** Durations as flags and settings have them. */
const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a text such as 30s, 10m, 26h or 7d; `undefined` for any other text. */
export const durationMs = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * unitMs[unit!]!
}
