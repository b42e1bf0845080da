/** The display of a run as lines that fit a terminal: the readings in progress, and the sums of all. */
import { type Status, stateText } from "../values/state.ts"
import { type LikelyRange, likelyText, middleOf } from "../values/range.ts"
import { table, timeText } from "../console/streams.ts"
import { duration } from "../values/text.ts"
import type { Totals } from "./watched.ts"

export interface ReadingState {
  readonly name: string
  readonly pages: number
  readonly records: number
  readonly requests: number
  /** Once the reading has ended. */
  readonly status: Status | undefined
}

export interface DisplayState extends Totals {
  readonly readings: ReadonlyArray<ReadingState>
  readonly elapsedMs: number
  /** An estimate of the time left; `undefined` while it is unknown. */
  readonly leftMs: LikelyRange | undefined
  /** Everything is read, and what takes time now sends no request. */
  readonly isPublishing?: boolean | undefined
  /** Requests in the current window of the rate limit, and how many it allows. */
  readonly inWindow: number
  readonly burst: number
  /** Requests that the service allows until the end of the day, if it reports them. */
  readonly dailyRemaining: number | undefined
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** At most two lines less than the terminal has, and each narrower than it. */
export const frame = (state: DisplayState, size: Size): ReadonlyArray<string> => {
  // A terminal wraps after its last column, some of them as soon as that is written.
  const width = Math.max(1, size.columns - 1)
  const height = Math.max(1, size.rows - 2)
  const sums = sumLines(state, width, height)
  const running = state.readings.filter((reading) => stateOf(reading) === "running")
  const incomplete = state.readings.filter((reading) => stateOf(reading) === "incomplete")
  for (let shown = running.length + incomplete.length; shown >= 0; shown--) {
    // If there are too many, the running and the incomplete ones get half of the lines each.
    const incompleteShown = Math.min(incomplete.length, Math.max(shown - running.length, Math.floor(shown / 2)))
    const done = count(state, "done")
    const others = [
      [done, done === 1 ? "resource done" : "resources done"],
      [count(state, "waiting"), "waiting"],
      [running.length + incompleteShown - shown, "more running"],
      [incomplete.length - incompleteShown, "more incomplete"]
    ] as const
    const lines = [
      ...runningLines(running.slice(0, shown - incompleteShown), width),
      ...incomplete.slice(0, incompleteShown).flatMap((reading) => split(incompleteLine(reading), width)),
      ...joined(
        others.filter(([number]) => number > 0).map(([number, label]) => `${quantity(number)} ${label}`),
        width
      ),
      ...sums
    ]
    if (lines.length <= height) return lines
  }
  return sums
}

/** A reading whose requests have not begun waits for its parents or for the rate limit. */
const stateOf = ({ status, requests }: ReadingState) => {
  if (status !== undefined) return status === "incomplete" ? "incomplete" : "done"
  return requests > 0 ? "running" : "waiting"
}

const count = ({ readings }: DisplayState, state: ReturnType<typeof stateOf>): number =>
  readings.filter((reading) => stateOf(reading) === state).length

const columnsOf = {
  resource: ({ name }: ReadingState) => name,
  pages: ({ pages }: ReadingState) => pages,
  records: ({ records }: ReadingState) => records,
  requests: ({ requests }: ReadingState) => requests
}

/** The choices of columns, from all to the one that any terminal has space for. */
const columnSets: ReadonlyArray<ReadonlyArray<keyof typeof columnsOf>> = [
  ["resource", "pages", "records", "requests"],
  ["resource", "records", "requests"],
  ["resource", "records"],
  ["resource"]
]

const runningLines = (readings: ReadonlyArray<ReadingState>, width: number): ReadonlyArray<string> => {
  if (readings.length === 0) return []
  const tables = columnSets.map((columns) =>
    table(
      columns,
      readings.map((reading) => columns.map((column) => columnsOf[column](reading)))
    )
  )
  const fitting = tables.find((lines) => lines.every((line) => line.length <= width))
  return fitting ?? (tables.at(-1) ?? []).flatMap((line) => split(line, width))
}

const incompleteLine = ({ name }: ReadingState): string => `${name}  ${stateText("incomplete")}`

/** The sums, and a bar of the requests. In a terminal with few lines, the most important ones. */
const sumLines = (state: DisplayState, width: number, height: number): ReadonlyArray<string> => {
  const { planned, requests, records, elapsedMs, leftMs, inWindow, isPublishing, burst, dailyRemaining } = state
  const estimate = planned && requests <= (planned.max ?? Infinity) ? planned : undefined
  const middle = estimate && middleOf(estimate)
  /** As they are shown, each with its rank in importance. */
  const sums: ReadonlyArray<readonly [rank: number, text: string | undefined]> = [
    [3, duration(elapsedMs)],
    [0, `${quantity(requests)}${estimate ? ` of ${likelyText(estimate)}` : ""} requests`],
    [2, `${quantity(records)} records`],
    [5, `budget ${inWindow}/${burst}`],
    [4, dailyRemaining === undefined ? undefined : `${quantity(dailyRemaining)} left today`],
    [1, isPublishing ? "publishing" : leftMs && `${timeText(leftMs)} left`]
  ]
  for (let rankMax = 6; rankMax >= 0; rankMax--) {
    const texts = sums.flatMap(([rank, text]) => (text !== undefined && rank <= rankMax ? [text] : []))
    const lines = [
      ...(rankMax === 6 && middle !== undefined && !isPublishing
        ? bar(requests, Math.max(middle, requests), width)
        : []),
      ...joined(texts, width)
    ]
    if (lines.length <= height) return lines
  }
  return []
}

const bar = (done: number, planned: number, width: number): ReadonlyArray<string> => {
  const share = planned === 0 ? 1 : done / planned
  const cells = Math.min(width, 100) - "[] 100 %".length
  const filled = Math.floor(share * cells)
  return cells < 10 ? [] : [`[${"#".repeat(filled)}${"-".repeat(cells - filled)}] ${Math.floor(share * 100)} %`]
}

/** Texts on as few lines as they need; only a text that is wider than the terminal is split. */
const joined = (texts: ReadonlyArray<string>, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const text of texts) {
    const line = lines.length === 0 ? text : `${lines.at(-1)} · ${text}`
    if (lines.length > 0 && line.length <= width) lines[lines.length - 1] = line
    else lines.push(text)
  }
  return lines.flatMap((line) => split(line, width))
}

const split = (line: string, width: number): ReadonlyArray<string> =>
  Array.from({ length: Math.max(1, Math.ceil(line.length / width)) }, (_, index) =>
    line.slice(index * width, (index + 1) * width)
  )

const quantity = (number: number): string => number.toLocaleString("en-US")
