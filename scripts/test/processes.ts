/**
 * Which test files share a process. Starting one for each file and loading the service in it takes longer than most files
 * themselves.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { LONGEST } from './tiers.ts'

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/test-processes/', import.meta.url))
/** Its hook has to be one of the process: as one of the first file that imports it, it would not see the others. */
const REPORT = new URL('../../test/support/failure-report.ts', import.meta.url)

interface Kind {
  readonly pattern: RegExp
  /** A process that fails as a whole, or is started last, must not be much of the run. */
  readonly maxFiles: number
}

const SHARING: readonly Kind[] = [
  { pattern: /^(src|console)\//, maxFiles: 16 },
  {
    pattern: /^test\/(admin|contracts|corpus|dns|domainwatch|http|imagestore|keys|integrity)\//,
    maxFiles: 16,
  },
  // Many of their tests wait for commands, servers and copies.
  { pattern: /^test\/(cli|clients|deploy|tooling|transfer)\//, maxFiles: 4 },
  // Tests in a browser are long.
  { pattern: /^test\/console\//, maxFiles: 4 },
]

export interface TestProcess {
  /** The file that Node's runner starts. */
  readonly entry: string
  readonly files: readonly string[]
}

/** Distributes files over processes, the longest ones first: what is started last is waited for alone. */
export function processesFor(files: readonly string[]): TestProcess[] {
  const processes: TestProcess[] = []
  const alone: TestProcess[] = []
  const shared = new Map<Kind, string[]>()
  for (const file of files) {
    const kind = SHARING.find(({ pattern }) => pattern.test(file))
    if (kind === undefined) (LONGEST.includes(file) ? processes : alone).push({ entry: file, files: [file] })
    else shared.set(kind, [...(shared.get(kind) ?? []), file])
  }
  for (const [{ maxFiles }, group] of shared) {
    for (let from = 0; from < group.length; from += maxFiles)
      processes.push(sharedProcess(group.slice(from, from + maxFiles)))
  }
  return [...processes, ...alone]
}

/** Each file is one test, so that what it leaves behind is cleaned up when it ends. */
function sharedProcess(files: readonly string[]): TestProcess {
  mkdirSync(FOLDER, { recursive: true })
  const [first = ''] = files
  const entry = `${FOLDER}${first.replaceAll('/', '-')}.mjs`
  const tests = files.map(
    (file) => `test(${JSON.stringify(file)}, () => import(${JSON.stringify(pathToFileURL(file).href)}))\n`,
  )
  writeFileSync(
    entry,
    `import { test } from 'node:test'\nimport ${JSON.stringify(REPORT.href)}\n\n${tests.join('')}`,
  )
  return { entry, files }
}
