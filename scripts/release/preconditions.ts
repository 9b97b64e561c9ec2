import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findChangelogProblems, toNotes, parseChangelog } from './changelog.ts'

export interface ReleaseCandidate {
  readonly version: string
  /** What the release page says. Empty if the changelog has nothing to say. */
  readonly notes: string
  /** Reasons not to release, each a sentence. */
  readonly problems: readonly string[]
}

/**
 * Reads what a release is made of and what speaks against it.
 * @param tag the tag that is being released, or undefined before there is one
 * @param isRehearsal whether the entries under "Unreleased" may stand for those of the version
 */
export function readCandidate(root: string, tag: string | undefined, isRehearsal: boolean): ReleaseCandidate {
  const read = (name: string) => readFileSync(join(root, name), 'utf8')
  const { version }: { version: string } = JSON.parse(read('package.json'))
  const lock: { version: string; packages: Record<string, { version?: string }> } = JSON.parse(
    read('package-lock.json'),
  )
  const changelog = read('CHANGELOG.md')
  const problems = findChangelogProblems(changelog).map((problem) => `CHANGELOG.md: ${problem}.`)
  if (lock.version !== version || lock.packages['']?.version !== version) {
    problems.push(`package-lock.json does not have the version ${version}: run npm install.`)
  }
  if (tag !== undefined && tag !== `v${version}`) {
    problems.push(`The tag ${tag} is not v${version}, the version in package.json.`)
  }
  const sections = parseChangelog(changelog)
  const unreleased = sections.find(({ name }) => name === 'Unreleased')
  const released = sections.find(({ name }) => name === version)
  if (released === undefined && !isRehearsal) problems.push(`CHANGELOG.md has no section for ${version}.`)
  if (released !== undefined && unreleased !== undefined && toNotes(unreleased) !== '') {
    problems.push(`CHANGELOG.md still has entries under "Unreleased": move them to ${version}.`)
  }
  const section = released ?? (isRehearsal ? unreleased : undefined)
  const notes = section === undefined ? '' : toNotes(section)
  if (section !== undefined && notes === '') problems.push(`CHANGELOG.md has no entry for ${section.name}.`)
  return { version, notes, problems }
}

/** Returns what keeps a tag from being made here: changes that are not committed, or that it exists. */
export function findTagProblems(root: string, tag: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const problems: string[] = []
  if (git('status', '--porcelain') !== '')
    problems.push('The working tree has changes that are not committed.')
  if (git('tag', '--list', tag) !== '') problems.push(`The tag ${tag} exists already.`)
  return problems
}
