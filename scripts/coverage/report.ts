export interface FileCoverage {
  readonly path: string
  readonly lines: Count
  readonly branches: Count
  readonly functions: Count
}

export interface Count {
  readonly total: number
  readonly covered: number
}

const LEAST_COVERED = 10

/**
 * Returns a report in Markdown: the totals, the least covered files, and the sources that no process loaded (those with nothing
 * but types among them).
 */
export function coverageReport(files: readonly FileCoverage[], sources: readonly string[]): string {
  const least = files
    .toSorted((left, right) => share(left.lines) - share(right.lines) || left.path.localeCompare(right.path))
    .slice(0, LEAST_COVERED)
  const loaded = new Set(files.map(({ path }) => path))
  const notLoaded = sources.filter((path) => !loaded.has(path)).toSorted()
  return [
    '## Coverage of src/',
    '',
    '| | Lines | Branches | Functions |',
    '| --- | ---: | ---: | ---: |',
    row(`${files.length} files`, total(files, 'lines'), total(files, 'branches'), total(files, 'functions')),
    '',
    '### Least covered files',
    '',
    '| File | Lines | Branches | Functions |',
    '| --- | ---: | ---: | ---: |',
    ...least.map(({ path, lines, branches, functions }) => row(`\`${path}\``, lines, branches, functions)),
    '',
    '<details>',
    `<summary>Not loaded: ${notLoaded.length} files</summary>`,
    '',
    ...notLoaded.map((path) => `- \`${path}\``),
    '',
    '</details>',
    '',
  ].join('\n')
}

function total(files: readonly FileCoverage[], kind: 'lines' | 'branches' | 'functions'): Count {
  return files
    .map((file) => file[kind])
    .reduce((sum, one) => ({ total: sum.total + one.total, covered: sum.covered + one.covered }), {
      total: 0,
      covered: 0,
    })
}

function share({ total, covered }: Count): number {
  return total === 0 ? 1 : covered / total
}

function row(name: string, ...counts: readonly Count[]): string {
  return `| ${[name, ...counts.map((count) => `${(share(count) * 100).toFixed(1)} %`)].join(' | ')} |`
}
