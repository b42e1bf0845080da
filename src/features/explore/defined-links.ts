/** The links that the definitions and the models have. Reading them takes a moment, so the explorer listens before. */
import { discover } from "../../catalog/discover.ts"
import { contractOf } from "../../stages/publish/contracts/contract.ts"
import { readModels } from "../../stages/publish/models/files.ts"
import { isProblem } from "../../stages/publish/models/model.ts"
import { linksOf } from "./links.ts"

/** `pipelines`, `models`: the folders of the user, if there are any. */
export const definedLinks = async (pipelines: Parameters<typeof discover>[0], models: string | undefined) => {
  const [catalogue, read] = await Promise.all([discover(pipelines), readModels(models)])
  return linksOf(
    contractOf(catalogue),
    read.flatMap((one) => (isProblem(one) ? [] : [one]))
  )
}
