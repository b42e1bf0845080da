/** Starts a sync at the times of the settings, and stores what the schedule has done, so that the next server goes on with it. */
import type { Job, Jobs } from "./jobs.ts"
import { NightState, type Times, beginning, dayOf, due, ended, nextMoments, resumed, started } from "./nights.ts"
import { reactionOf } from "../operations/schedule/outcomes.ts"
import { store, stored } from "./stored.ts"

interface Options {
  /** The file of the state. */
  readonly path: string
  readonly jobs: Jobs
  /** Of the settings as they are now; undefined while they cannot be read. */
  readonly timesOf: () => (Times & { readonly prune: boolean }) | undefined
  readonly onChange: () => void
  readonly onProblem: (message: string) => void
}

const tickMs = 5000

export const startScheduler = ({ jobs, onChange, onProblem, path, timesOf }: Options) => {
  let state = stored(path, NightState) ?? beginning(Date.now())
  let isClosing = false
  let lastTick = Date.now()
  const change = (next: NightState) => {
    if (JSON.stringify(next) === JSON.stringify(state)) return
    state = next
    store(path, state)
    onChange()
  }

  const tick = () => {
    lastTick = Date.now()
    const times = timesOf()
    if (times === undefined || isClosing) return
    // A run that was started just before this server's predecessor was killed.
    const found = jobs.writing()?.record
    if (state.job === undefined && found?.by === "schedule" && found.task === "sync")
      change(started(state, Math.max(state.handled, Date.parse(found.startedAt)), found.id))
    // A run whose end nobody has seen, because this process was not there.
    const job = state.job === undefined ? undefined : jobs.all().find(({ record }) => record.id === state.job)
    if (state.job !== undefined && (job === undefined || job.record.endedAt !== undefined)) settle(job)
    const next = due(state, times, lastTick, jobs.writing() !== undefined)
    change(next.state)
    if (next.moment === undefined) return
    const { record } = jobs.start({
      ...scheduled,
      task: "sync",
      title: "Sync",
      args: ["sync", "--wait=30m"],
      hasEvents: true,
      isWriting: true
    })
    change(started(state, next.moment, record.id))
  }

  const settle = (job: Job | undefined) => {
    const { exitCode = null } = job?.record ?? {}
    const { error } = job?.transcript.printed ?? {}
    change(ended(state, exitCode, error?.message ?? "", Date.now(), isClosing))
    const times = timesOf()
    if (isClosing || times === undefined) return
    const reaction = reactionOf(exitCode)
    if (reaction === "wait" || reaction === "stopped") return
    if (!jobs.running().some(({ record }) => record.task === "check"))
      jobs.start({
        ...scheduled,
        task: "check",
        title: "Check the alarms",
        args: ["check"],
        hasEvents: false,
        isWriting: false
      })
    const today = dayOf(times.timeZone, Date.now())
    if (!times.prune || reaction !== "done" || state.prunedOn === today || jobs.writing()) return
    change({ ...state, prunedOn: today })
    jobs.start({
      ...scheduled,
      task: "prune",
      title: "Free disk space",
      args: ["prune", "--apply"],
      hasEvents: false,
      isWriting: true
    })
  }

  /** A full disk does not end the server. */
  const guarded = () => {
    try {
      tick()
    } catch (cause) {
      onProblem(cause instanceof Error ? cause.message : String(cause))
    }
  }
  const timer = setInterval(guarded, tickMs)
  guarded()
  return {
    /** A run has ended. A sync of a person that ended well shows that what stopped the schedule is mended. */
    onEnd: (job: Job) => {
      const { exitCode, id, task } = job.record
      if (id === state.job) settle(job)
      else if (task === "sync" && exitCode === 0 && state.halted) change(resumed(state))
    },
    resume: () => {
      change(resumed(state))
      guarded()
    },
    /** Whether it still looks at the time. */
    isAlive: () => Math.abs(Date.now() - lastTick) < 6 * tickMs,
    /** `times`: of the settings that the caller has read. */
    shown: (times: ReturnType<Options["timesOf"]>) => {
      if (times === undefined) return undefined
      const { halted, job, retryAt } = state
      const isOn = times.times.length > 0 && !times.paused && halted === undefined
      return {
        times: times.times,
        timeZone: times.timeZone,
        paused: times.paused,
        next: isOn ? nextMoments(times, Date.now(), 3).map((moment) => new Date(moment).toISOString()) : [],
        ...(halted && { halted }),
        ...(job !== undefined && { job }),
        ...(isOn && retryAt !== undefined && { retryAt: new Date(retryAt).toISOString() })
      }
    },
    /** From now on a run that is stopped is not tonight's last one: the next server goes on with it. */
    beginClosing: () => {
      isClosing = true
      clearInterval(timer)
    }
  }
}

const scheduled = { by: "schedule", isPrivate: false, isPlanOnly: false } as const
