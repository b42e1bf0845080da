/** Sends a message as a mail, by a program with the interface of sendmail. */
import { spawn } from "node:child_process"
import type { Message } from "./message.ts"

const timeoutMs = 20_000

export const mailText = ({ title, text }: Message, to: string, at: number): string =>
  [
    `To: ${to}`,
    `Subject: ${headerText(title)}`,
    `Date: ${new Date(at).toUTCString().replace("GMT", "+0000")}`,
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    text,
    ""
  ].join("\n")

/** A header is one line, and in ASCII; other text is encoded as RFC 2047 says, in words of at most 75 characters. */
const headerText = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ")
  if (/^[ -~]*$/.test(line)) return line
  const words: Array<string> = [""]
  for (const character of line)
    if (Buffer.byteLength(words.at(-1)! + character) > 45) words.push(character)
    else words[words.length - 1] += character
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join("\n ")
}

/** Returns `undefined`, or what went wrong. A program that does not end cannot refuse to, because the run waits for it. */
export const sendMail = (program: string, mail: string, timeout = timeoutMs): Promise<string | undefined> =>
  new Promise((resolve) => {
    const child = spawn(program, ["-i", "-t"], {
      stdio: ["pipe", "ignore", "ignore"],
      timeout,
      killSignal: "SIGKILL"
    })
    child.on("error", (cause: NodeJS.ErrnoException) => resolve(`${program} cannot be run (${cause.code ?? "?"})`))
    child.on("close", (code, signal) =>
      resolve(code === 0 ? undefined : `${program} ended with ${signal ?? `exit code ${code}`}`)
    )
    // A program that ends early closes the pipe, and its exit code says why.
    child.stdin.on("error", () => {})
    child.stdin.end(mail)
  })
