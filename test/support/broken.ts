/** Breaks copies of an output folder, and tells what `sluice verify` says about them. */
import { DuckDBInstance } from "@duckdb/node-api"
import { assert } from "@effect/vitest"
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, openAccount } from "./account.ts"
import { newFolder, sluice } from "./sluice.ts"

interface Finding {
  readonly level: "wrong" | "note"
  readonly where: string
  readonly what: string
}
interface Result {
  readonly right: boolean
  readonly checks: ReadonlyArray<{
    readonly check: string
    readonly looked: string
    readonly findings: ReadonlyArray<Finding>
  }>
  readonly sample?: Readonly<Record<string, number>>
  readonly next: string
}

export interface Verified {
  /** As `check: where: what`. */
  readonly wrong: ReadonlyArray<string>
  readonly notes: ReadonlyArray<string>
  readonly result: Result
}

/** An account of two runs, with something of everything changed in between. */
export const openSynced = async (): Promise<Account> => {
  const account = await openAccount("--contacts", "120")
  for (const change of [{ contacts: 0.1, opportunities: 0.1, conversations: 0.1, orders: 0.1 }, undefined]) {
    const ran = await account.sync()
    assert.strictEqual(ran.code, 0, ran.stderr)
    if (change) await account.service.post("change", change)
  }
  return account
}

export const copyOf = (folder: string): string => {
  const copy = newFolder()
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

/** Does the damage to a copy of the folder and verifies it. */
export const verifyBroken = async (
  { environment }: Account,
  from: string,
  damage: (folder: string) => unknown,
  ...flags: ReadonlyArray<string>
): Promise<Verified> => {
  const folder = copyOf(from)
  try {
    await damage(folder)
    const ran = await sluice(["verify", "--json", ...flags], { ...environment, SLUICE_OUTPUT: folder })
    const result: Result = JSON.parse(ran.stdout || assert.fail(ran.stderr))
    const told = (level: Finding["level"]) =>
      result.checks.flatMap(({ check, findings }) =>
        findings.filter((one) => one.level === level).map(({ where, what }) => `${check}: ${where}: ${what}`)
      )
    assert.strictEqual(ran.code, result.right ? 0 : 1)
    assert.strictEqual(result.right, told("wrong").length === 0)
    return { wrong: told("wrong"), notes: told("note"), result }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs a statement on the warehouse of a folder. */
export const sql = async (folder: string, statement: string): Promise<void> => {
  const instance = await DuckDBInstance.create(join(folder, "warehouse.duckdb"))
  const connection = await instance.connect()
  await connection.run(statement)
  connection.closeSync()
  instance.closeSync()
}

/** Changes a byte: the one in the middle of the file, or the last of a text in it. */
export const flip = (path: string, text?: string): void => {
  const bytes = readFileSync(path)
  const place = text === undefined ? bytes.length >> 1 : bytes.indexOf(text) + text.length - 1
  bytes[place]! ^= 0x55
  writeFileSync(path, bytes)
}
