/** Requests to the server. */

/** An answer that is an error; `code` says which. */
export class ServiceError extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

const releaseListeners = []
let release

/** Calls a function with each release that differs from the one before. */
export const onRelease = (listener) => releaseListeners.push(listener)

/** The server refuses queries beyond a number, so the others of this page wait for their turn. */
const queriesAtOnce = 3
const waiting = []
let running = 0

const inTurn = async (run) => {
  if (running >= queriesAtOnce) await new Promise((resolve) => waiting.push(resolve))
  running++
  try {
    return await run()
  } finally {
    running--
    waiting.shift()?.()
  }
}

/** `body`: makes it a POST. */
export const request = async (path, body, signal) => {
  const answered = async () => (await send(path, body, signal)).json()
  const answer = await (path === "/api/query" ? inTurn(answered) : answered())
  if (answer.release && answer.release.id !== release?.id) {
    const before = release
    release = answer.release
    for (const listener of releaseListeners) listener(release, before)
  }
  return answer
}

/** Saves the answer as a file. */
export const downloadFile = async (path, body, name, signal) => {
  const blob = await (await send(path, body, signal)).blob()
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

const send = async (path, body, signal) => {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
  let response
  try {
    response = await fetch(path, { ...options, signal })
  } catch {
    if (signal?.aborted) throw new ServiceError("stopped", "The query was stopped.")
    throw new ServiceError(
      "ended",
      "The explorer has ended. Run ./sluice explore, and open the address that it prints."
    )
  }
  if (response.ok) return response
  const { error } = await response.json().catch(() => ({ error: { code: "failed", message: response.statusText } }))
  throw new ServiceError(error.code, error.message)
}
