/** The states of readings and runs, and how people see them. values/status.ts decides the state of a reading that has ended. */

/** `tone`: the mark of the state in the report, and its colour on a terminal. `brief`: in a narrow column. */
const states = {
  complete: { text: "complete", brief: "complete", tone: "complete" },
  complete_with_warnings: { text: "complete with warnings", brief: "warnings", tone: "warning" },
  incomplete: { text: "incomplete", brief: "incomplete", tone: "problem" },
  /** A run stopped early, because the budget was spent or the service did not respond; a later run resumes it. */
  paused: { text: "paused", brief: "paused", tone: "warning" },
  /** It did not end, or is still working. */
  interrupted: { text: "interrupted", brief: "interrupted", tone: "problem" },
  /** No run has read it. */
  never: { text: "never read", brief: "never read", tone: "problem" }
} as const

type State = keyof typeof states
export type Tone = (typeof states)[State]["tone"]

/** How complete a reading is that has ended, the best first. */
export const statuses = ["complete", "complete_with_warnings", "incomplete"] as const
export type Status = (typeof statuses)[number]

/** What a run says of a reading that it began, the best first. */
export const begunStates = [...statuses, "interrupted"] as const
export type BegunState = (typeof begunStates)[number]

export const readingStates = [...begunStates, "never"] as const

export const runStates = [...statuses, "paused", "interrupted"] as const
export type RunState = (typeof runStates)[number]

/** A state as messages show it. What a file has that is no state is shown as it is. */
export const stateText = (state: string): string => (isState(state) ? states[state].text : state)

export const briefText = (state: string): string => (isState(state) ? states[state].brief : state)

/** `undefined` for what is no state. */
export const toneOf = (state: string): Tone | undefined => (isState(state) ? states[state].tone : undefined)

/** Whether everything was read to the end, maybe with warnings. */
export const isWhole = (state: string): boolean => state === "complete" || state === "complete_with_warnings"

export const toneByText: ReadonlyMap<string, Tone> = new Map(
  Object.values(states).map(({ text, tone }) => [text, tone])
)

const isState = (state: string): state is State => Object.hasOwn(states, state)
