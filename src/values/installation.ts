/**
 * Where the files of the program are. A module finds no file by its own place: the built program (pack/build.mjs) consists of
 * chunks, which are in a folder at the same depth as this module.
 */
import { extname } from "node:path"
import { fileURLToPath } from "node:url"

/** The path of a file or folder of the repository, or of the built program, which has the same layout. */
export const installed = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** The path of a module of the program: a source, or what was built from it. */
export const moduleFile = (path: string): string => installed(`src/${path}${extname(import.meta.url)}`)
