/**
 * Runs `npm test`, or the part of it that the arguments name, and reports with Node's coverage how much of src/ it ran, services
 * and threads included: as Markdown, and in GitHub Actions also as the summary of the job. Fails if the tests do.
 */
import { appendFileSync, globSync } from 'node:fs'
import { relative } from 'node:path'
import { run } from 'node:test'
import { coverageReport, type FileCoverage } from './coverage/report.ts'

const TIMEOUT_MS = 3_600_000

const events = run({
  // One test that runs all others as a process of its own: what its processes leave in NODE_V8_COVERAGE is counted with its own.
  files: ['scripts/coverage/suite.ts'],
  argv: process.argv.slice(2),
  coverage: true,
  coverageIncludeGlobs: ['src/**/*.ts'],
  coverageExcludeGlobs: ['**/*.test.ts'],
  timeout: TIMEOUT_MS,
})
events.on('test:stderr', ({ message }) => process.stderr.write(message))
events.on('test:fail', () => (process.exitCode = 1))
events.on('test:coverage', ({ summary: { files } }) => {
  const sources = globSync('src/**/*.ts', { exclude: (path) => path.endsWith('.test.ts') })
  const report = coverageReport(files.map(fileCoverage), sources)
  console.log(`\n${report}`)
  const summary = process.env['GITHUB_STEP_SUMMARY']
  if (summary !== undefined) appendFileSync(summary, report)
})
events.resume()

interface NodeCoverage {
  readonly path: string
  readonly totalLineCount: number
  readonly coveredLineCount: number
  readonly totalBranchCount: number
  readonly coveredBranchCount: number
  readonly totalFunctionCount: number
  readonly coveredFunctionCount: number
}

function fileCoverage(one: NodeCoverage): FileCoverage {
  return {
    path: relative('', one.path).replaceAll('\\', '/'),
    lines: { total: one.totalLineCount, covered: one.coveredLineCount },
    branches: { total: one.totalBranchCount, covered: one.coveredBranchCount },
    functions: { total: one.totalFunctionCount, covered: one.coveredFunctionCount },
  }
}
