/**
 * Until its first response, a run knows neither the limit nor the window of the service, and waits for requests of the run
 * before as the settings say: up to ten seconds. It forgets those that a service with a shorter window counts no longer.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { outputPaths } from "../../src/output/paths.ts"

/** By address: milliseconds for which a service counts a request; 0 if it has no rate limit. */
export const windows = new Map<string, number>()

const sendsRequests = /^(sync|backfill|plan|subject)$/

export const forgetRequests = (command: string | undefined, environment: Readonly<Record<string, string>>): void => {
  const { SLUICE_BASE_URL: url, SLUICE_OUTPUT: output } = environment
  const windowMs = windows.get(url ?? "")
  if (!sendsRequests.test(command ?? "") || windowMs === undefined || output === undefined) return
  const path = outputPaths(output).recentRequests
  let recent: Readonly<Record<string, ReadonlyArray<number>>>
  try {
    recent = JSON.parse(readFileSync(path, "utf8"))
  } catch {
    return
  }
  const isCounted = (at: number) => windowMs > 0 && at + windowMs > Date.now()
  const counted = Object.entries(recent).map(([account, times]) => [account, times.filter(isCounted)])
  writeFileSync(path, JSON.stringify(Object.fromEntries(counted)))
}
