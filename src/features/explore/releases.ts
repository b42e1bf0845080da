/**
 * The published file that is current. A release replaces the link to the published folder, so the file is opened by the path
 * of its own release, and opened anew once the link points to another one. An open file delays no release: it has no
 * lock that a publish waits for, and its space is freed when it is closed.
 */
import { realpath } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readManifest } from "../../output/manifest.ts"
import { snapshotName } from "../../output/paths.ts"
import { Database, DatabaseError, type DatabaseOptions } from "./database.ts"

export interface Release extends DatabaseOptions {
  /** The name of its folder: 000007-20260131T100000000Z. */
  readonly id: string
  /** When it was written. */
  readonly writtenAt: string | undefined
  readonly database: Database
}

export class Releases {
  readonly #published: string
  readonly #memoryMb: number
  #current: Release | undefined
  constructor(published: string, memoryMb: number) {
    this.#published = published
    this.#memoryMb = memoryMb
  }

  /** Fails with a DatabaseError if there is no published file. */
  async current(): Promise<Release> {
    const file = join(this.#published, snapshotName)
    const path = await realpath(file).catch(() => undefined)
    if (path === undefined)
      throw new DatabaseError("failed", `${file} does not exist. Run ./sluice publish, then try again.`)
    if (this.#current?.path === path) return this.#current
    const writtenAt = await writtenAtOf(dirname(path))
    // Another request may have opened it in the meantime.
    const current = this.#current
    if (current?.path === path) return current
    const options = { path, memoryMb: this.#memoryMb }
    this.#current = { ...options, id: pathId(path), writtenAt, database: new Database(options) }
    current?.database.close()
    return this.#current
  }

  close(): void {
    this.#current?.database.close()
  }
}

const pathId = (path: string): string => dirname(path).split("/").at(-1)!

/** A release can be removed at this moment, and the manifest only serves the heading of the page. */
const writtenAtOf = (folder: string): Promise<string | undefined> =>
  readManifest(folder).then(
    ({ writtenAt }) => writtenAt,
    () => undefined
  )
