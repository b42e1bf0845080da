/** Requests to the server. */

/** An answer that is an error; `code` says which, `next` what to do. */
export class ServiceError extends Error {
  constructor({ code, message, ...more }) {
    super(message)
    Object.assign(this, { code, ...more })
  }
}

const isConsole = document.body.dataset.console !== ""
const endedText = isConsole
  ? "The console does not answer. If it has ended, start it again: ./sluice serve"
  : "The explorer has ended. Run ./sluice explore, and open the address that it prints."

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
    if (signal?.aborted) throw new ServiceError({ code: "stopped", message: "The query was stopped." })
    throw new ServiceError({ code: "ended", message: endedText })
  }
  if (response.ok) return response
  const { error } = await response.json().catch(() => ({ error: { code: "failed", message: response.statusText } }))
  // The server shows how to come in again.
  if (error.code === "token" && isConsole) document.location.href = "/"
  throw new ServiceError(error)
}
