/**
 * What a piece of the program does to the disk, in the order in which it is done: what was written and not synced before the
 * power is cut may be lost, however right it looks while the machine runs.
 */
import fs from "node:fs"
import promises, { type FileHandle } from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { basename } from "node:path"

/** `write page.json`, `sync page.json`, `sync folder`, `rename a to b`, `remove a`: each once it is done. */
export type Diary = ReadonlyArray<string>

/** Calls that have another name in the diary. */
const onHandles = {
  appendFile: "write",
  write: "write",
  writeFile: "write",
  datasync: "sync",
  sync: "sync",
  truncate: "cut"
} as const
const onPaths = { rename: "rename", rm: "remove", truncate: "cut", writeFile: "write" } as const

/**
 * Runs `run` and keeps a diary meanwhile. `before` is called with each entry before the call is made, and may delay it or
 * make it fail.
 */
export const keepingDiary = async <A>(
  run: (diary: Diary) => Promise<A>,
  before: (entry: string) => unknown = () => undefined
): Promise<A> => {
  const diary: Array<string> = []
  const names = new WeakMap<object, string>()
  const [probe, restores] = [await promises.open(process.execPath, "r"), [] as Array<() => void>]
  const handles = Object.getPrototypeOf(probe) as FileHandle
  await probe.close()
  const noted = async (entry: string, call: () => Promise<unknown>) => {
    await before(entry)
    const result = await call()
    diary.push(entry)
    return result
  }
  const replace = <O extends object, Name extends keyof O>(
    owner: O,
    name: Name,
    by: (original: Function) => unknown
  ) => {
    const original = owner[name]
    owner[name] = by(original as Function) as O[Name]
    restores.push(() => (owner[name] = original))
  }
  replace(promises, "open", (open) => async (path: string, ...rest: ReadonlyArray<unknown>) => {
    const handle: FileHandle = await open(path, ...rest)
    names.set(handle, (await handle.stat()).isDirectory() ? "folder" : basename(path))
    return handle
  })
  for (const [name, noun] of Object.entries(onHandles))
    replace(
      handles,
      name as "sync",
      (original) =>
        function (this: FileHandle, ...rest: ReadonlyArray<unknown>) {
          const file = names.get(this)
          return file === undefined
            ? original.apply(this, rest)
            : noted(`${noun} ${file}`, () => original.apply(this, rest))
        }
    )
  for (const [name, noun] of Object.entries(onPaths))
    replace(
      promises,
      name as "rename",
      (original) =>
        (path: unknown, to: unknown, ...rest: ReadonlyArray<unknown>) =>
          typeof path === "string"
            ? noted(`${noun} ${basename(path)}${name === "rename" ? ` to ${basename(String(to))}` : ""}`, () =>
                original(path, to, ...rest)
              )
            : original(path, to, ...rest)
    )
  // Streams sync by the descriptor of their file.
  replace(
    fs,
    "fsync",
    (original) => (descriptor: number, done: (error: unknown) => void) =>
      original(descriptor, (error: unknown) => {
        diary.push("sync stream")
        done(error)
      })
  )
  syncBuiltinESMExports()
  try {
    return await run(diary)
  } finally {
    for (const restore of restores) restore()
    syncBuiltinESMExports()
  }
}
