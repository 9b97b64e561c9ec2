/** A changelog in the form of Keep a Changelog 1.1 (https://keepachangelog.com): a `## ` heading a version, newest first. */
export interface ChangelogSection {
  /** `Unreleased` or a version. */
  readonly name: string
  /** The day of the release, as `2026-11-22`. */
  readonly date: string | undefined
  /** Markdown below the heading, trimmed. */
  readonly body: string
}

const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
const HEADING = /^## \[?([^\]\s]+)\]?(?: - (\S+))?$/
const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/

export function parseChangelog(text: string): ChangelogSection[] {
  return text
    .split(/^(?=## )/m)
    .slice(1)
    .map((part) => {
      const end = part.includes('\n') ? part.indexOf('\n') : part.length
      const [, name = part.slice(3, end), date] = HEADING.exec(part.slice(0, end).trimEnd()) ?? []
      return { name, date, body: part.slice(end).trim() }
    })
}

/** Returns the notes of a release: its section without headings of kinds that have no entry. */
export function toNotes(section: ChangelogSection): string {
  return section.body
    .split(/^(?=### )/m)
    .filter((part) => !part.startsWith('### ') || part.includes('\n- '))
    .join('')
    .trim()
}

/** Returns what keeps the text from being a changelog that people and the release can read. */
export function findChangelogProblems(text: string): string[] {
  const sections = parseChangelog(text)
  const problems = sections.flatMap(toProblems)
  if (!/^# Changelog$/m.test(text)) problems.push('the title is not "# Changelog"')
  if (sections[0]?.name !== 'Unreleased') problems.push('the first section is not "Unreleased"')
  const versions = sections.slice(1)
  for (const [index, { name }] of versions.entries()) {
    const newer = versions[index - 1]?.name
    if (newer !== undefined && compareVersions(newer, name) <= 0) {
      problems.push(`${name} stands below ${newer}, which is not newer`)
    }
  }
  return problems
}

function toProblems({ name, date, body }: ChangelogSection, index: number): string[] {
  const problems: string[] = []
  if (index > 0) {
    if (!VERSION.test(name)) problems.push(`"${name}" is no version`)
    if (!isDate(date)) problems.push(`${name} has no date such as 2026-11-22`)
    if (!body.includes('- ')) problems.push(`${name} has no entry`)
  }
  const kinds = [...body.matchAll(/^### (.*)$/gm)].map(([, kind = '']) => kind)
  for (const [at, kind] of kinds.entries()) {
    if (!KINDS.includes(kind)) problems.push(`${name} has a heading "${kind}": use ${KINDS.join(', ')}`)
    if (kinds.indexOf(kind) !== at) problems.push(`${name} has the heading "${kind}" twice`)
  }
  return problems
}

function isDate(text: string | undefined): boolean {
  if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const date = new Date(text)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** Orders versions as Semantic Versioning does, but compares what follows a hyphen as one text. */
function compareVersions(left: string, right: string): number {
  const [leftNumbers = '', ...leftRest] = left.split('-')
  const [rightNumbers = '', ...rightRest] = right.split('-')
  const others = rightNumbers.split('.').map(Number)
  const differences = leftNumbers.split('.').map((digits, index) => Number(digits) - (others[index] ?? 0))
  const difference = differences.find((one) => one !== 0)
  if (difference !== undefined) return difference
  // A version with a hyphen comes before the same version without one.
  if (leftRest.length === 0 || rightRest.length === 0) return rightRest.length - leftRest.length
  return leftRest.join('-').localeCompare(rightRest.join('-'), 'en', { numeric: true })
}
