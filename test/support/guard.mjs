// npm puts the pinned Node first on the path. Without optional packages, the Node of the system is there, on
// which parts of the tests would pass for the wrong reason.
const [major, minor] = process.versions.node.split(".").map(Number)
if (major < 24 || (major === 24 && minor < 9)) {
  console.error(`sluice needs the Node it pins, this is ${process.version}. Run: npm ci --include=optional`)
  process.exit(1)
}
