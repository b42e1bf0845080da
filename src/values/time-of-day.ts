/** Times of a day and time zones, as people write them. */

export interface TimeOfDay {
  readonly hour: number
  readonly minute: number
}

/** `07`. */
export const twoDigits = (value: number): string => String(value).padStart(2, "0")

/** `02:30`. */
export const timeText = ({ hour, minute }: TimeOfDay): string => `${twoDigits(hour)}:${twoDigits(minute)}`

/** Hours and minutes of `02:30`; `undefined` for any other text. */
export const timeOf = (text: string): TimeOfDay | undefined => {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hour === undefined ? undefined : { hour: Number(hour), minute: Number(minute) }
}

/** Whether the time zone is known here. */
export const isTimeZone = (name: string): boolean => {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }))
  } catch {
    return false
  }
}
