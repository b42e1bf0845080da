/** The console: what the page has beside the explorer's tables, and what keeps it up to date. */
import { h } from "./dom.js"
import { connect, current, live, readState } from "./console-state.js"

const load = {
  "": () => import("./console-overview.js"),
  runs: () => import("./console-runs.js"),
  run: () => import("./console-runs.js"),
  job: () => import("./console-job.js"),
  tasks: () => import("./console-tasks.js"),
  settings: () => import("./console-settings.js"),
  setup: () => import("./console-setup.js"),
  locations: () => import("./console-locations.js")
}
const tabs = { "": "overview", tasks: "work", run: "runs", job: "runs", setup: "settings" }
const titles = { setup: "Set-up", run: "Run", job: "Work" }

/** The parts of the address at which another view was shown: until there are settings, all of them show the set-up. */
const isNew = () => current().needsSetup || current().needsPassword
const viewAt = (view) => (isNew() ? "setup" : view)

/** Whether an address belongs to the console; all others are the explorer's. */
export const isConsole = (view) => isNew() || Object.hasOwn(load, view)
export const tabOf = (view) => tabs[viewAt(view)] ?? viewAt(view)
export const titleOf = (view) => {
  const name = titles[viewAt(view)] ?? tabOf(view)
  return name[0].toUpperCase() + name.slice(1)
}

export const elementOf = async (view, path, parameters) => {
  const name = viewAt(view)
  const { [name === "" ? "overview" : name]: show } = await load[name]()
  return h("section.console", await show(path, parameters))
}

/** `notify`: shows a sentence above the page. */
export const startConsole = async (notify) => {
  await readState()
  const tab = /** @type {HTMLElement} */ (document.getElementById("tab-locations"))
  const showTab = ({ fleet }) => {
    tab.hidden = !fleet
    if (tab.parentElement) tab.parentElement.hidden = isNew()
    return tab.textContent
  }
  live(tab, ({ fleet, needsSetup }) => ({ fleet, needsSetup }), showTab)
  if (current().needsPassword) return
  connect((isThere) => {
    notify(isThere ? "" : lostText)
    // What could not be read meanwhile is read now.
    if (isThere && document.querySelector("#main > .error")) dispatchEvent(new HashChangeEvent("hashchange"))
  })
  // All views are there before the server is not.
  for (const view of Object.values(load)) view().catch(() => {})
}
const lostText =
  "The connection to the console is lost. Work that has started does not need it, and this page continues when the console answers again."
