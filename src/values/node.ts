/**
 * Modules of Node that take milliseconds to load, some with its network: loaded when they are first used, so that help and
 * status do not wait for them.
 */
export const nodeCrypto = () => process.getBuiltinModule("node:crypto")
export const nodeZlib = () => process.getBuiltinModule("node:zlib")
export const nodeUtil = () => process.getBuiltinModule("node:util")
export const nodeReadline = () => process.getBuiltinModule("node:readline")
export const nodeChildProcess = () => process.getBuiltinModule("node:child_process")
