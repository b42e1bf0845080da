/**
 * Where the files of the program are. A module finds no file by its own place: the built program (pack/build.mjs) consists of
 * chunks, which are in a folder at the same depth as this module.
 */
import { existsSync } from "node:fs"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The path of a file or folder of the repository, or of the built program, which has the same layout. */
export const installed = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** The path of a page of docs, whose folder is above the built program, in a clone as well as in a package. */
export const docsPage = (name: string): string => join(["docs", "../docs"].map(installed).find(existsSync)!, name)

/** The path of a module of the program: a source, or what was built from it. */
export const moduleFile = (path: string): string => installed(`src/${path}${extname(import.meta.url)}`)
