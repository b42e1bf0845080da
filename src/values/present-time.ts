/** The present time, as far as the clock of the machine can be trusted. */

interface Sync {
  readonly command: string
  /** Epoch milliseconds. */
  readonly finishedAt?: number | undefined
  readonly clockAheadMs?: number | undefined
}

/** The service's time, if the last sync found the machine's clock to be wrong and nothing shows that it was set since. `runs`: newest first. */
export const presentTime = (now: number, runs: ReadonlyArray<Sync>): number => {
  const last = runs.find(({ command, finishedAt }) => command.startsWith("sync") && finishedAt !== undefined)
  const present = now - (last?.clockAheadMs ?? 0)
  return present < (last?.finishedAt ?? 0) ? now : present
}
