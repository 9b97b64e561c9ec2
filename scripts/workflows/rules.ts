/** What actionlint does not ask for and this project does. Each rule returns one line for each breach. */
import { parse } from 'yaml'

interface Job {
  readonly uses?: string
  readonly 'timeout-minutes'?: number
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>> | string
  readonly concurrency?: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

const USES = /^\s*(?:- )?uses:\s*(\S+)(.*)$/gm
/** A commit cannot be moved to other code as a tag can; the comment says to people and Renovate which version it is. */
const PINNED = /^[\w.-]+(?:\/[\w.-]+)+@[0-9a-f]{40} # v\d+(?:\.\d+)*$/

export function findUnpinnedActions(text: string): string[] {
  return [...text.matchAll(USES)]
    .map(([, action = '', rest = '']) => action + rest)
    .filter((action) => !action.startsWith('./') && !PINNED.test(action))
    .map((action) => `"${action}" is not pinned: owner/name@<commit> # v1.2.3`)
}

export function findMissingLimits(text: string): string[] {
  const { permissions, concurrency, jobs }: Workflow = parse(text)
  const breaches: string[] = []
  if (typeof permissions !== 'object' || Object.values(permissions).includes('write')) {
    breaches.push('the workflow does not begin with read permissions only: a job asks for more itself')
  }
  if (concurrency === undefined) breaches.push('the workflow has no concurrency group')
  for (const [name, job] of Object.entries(jobs)) {
    if (job.uses === undefined && job['timeout-minutes'] === undefined) {
      breaches.push(`the job ${name} has no timeout-minutes`)
    }
  }
  return breaches
}

/** `npm run` and the names of scripts as they stand there; a name made of a variable is not looked up. */
export function findUnknownScripts(text: string, scripts: ReadonlySet<string>): string[] {
  return [...text.matchAll(/\bnpm run ([\w:-]+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !scripts.has(name))
    .map((name) => `package.json has no script ${name}`)
}
