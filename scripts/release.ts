/**
 * Cuts a release: checks that package, lock file, changelog and tag agree, packs it, installs the package in an empty folder,
 * makes requests of it, and then tags the commit. Pushing the tag publishes it (.github/workflows/release.yml).
 *
 *   npm run release -- --dry-run               the same without a tag; entries under "Unreleased" stand for the version's
 *   npm run release -- --dry-run --tag v0.1.0  what the workflow runs: this tag, with a section of its own in the changelog
 *   --out FOLDER                               keeps the package that was tried, and its notes as notes.md
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findTagProblems, readCandidate } from './release/preconditions.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    tag: { type: 'string' },
    out: { type: 'string' },
  },
})
const isDryRun = values['dry-run']
const isRehearsal = isDryRun && values.tag === undefined

const { version, notes, problems } = readCandidate(root, values.tag, isRehearsal)
const tag = `v${version}`
const reasons = isDryRun ? problems : [...problems, ...findTagProblems(root, tag)]
if (reasons.length > 0) {
  for (const reason of reasons) console.error(reason)
  console.error(`${tag} cannot be released`)
  process.exitCode = 1
} else {
  console.log(`${tag}: package, lock file and changelog agree\n\n${notes}\n`)
  await tryPackage()
  if (isDryRun) console.log(`${tag} could be released; nothing was tagged or published`)
  else tagCommit()
}

/** Packs, installs and uses the release, and publishes it as far as that goes without publishing. */
async function tryPackage(): Promise<void> {
  const scratch = values.out === undefined ? await mkdtemp(join(tmpdir(), 'catalejo-release-')) : undefined
  const out = resolve(values.out ?? scratch ?? '')
  if (!existsSync(out)) mkdirSync(out, { recursive: true })
  try {
    run(process.execPath, [join(root, 'scripts/check-pack.ts'), '--out', out])
    writeFileSync(join(out, 'notes.md'), `${notes}\n`)
    const tarball = readdirSync(out).find((name) => name === `catalejo-${version}.tgz`)
    if (tarball === undefined) throw new Error(`no catalejo-${version}.tgz was packed`)
    const distTag = version.includes('-') ? 'next' : 'latest'
    run('npm', ['publish', '--dry-run', '--loglevel=error', '--tag', distTag, join(out, tarball)])
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true })
  }
}

function tagCommit(): void {
  // "### " would be taken for comments if git cleaned the message up.
  run('git', [
    'tag',
    '--annotate',
    tag,
    '--cleanup=verbatim',
    '--message',
    `Catalejo ${version}\n\n${notes}\n`,
  ])
  console.log(`Tagged ${tag}. Publish it with: git push origin ${tag}`)
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { cwd: root, stdio: 'inherit' })
}
