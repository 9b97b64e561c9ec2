// A key press in the console's query box among 1 million records: from the event to the frame that shows its answer, in a real
// browser. Beside it the two floors that it stands on: fetching the same list in the same page, and drawing a state of React
// that changes nothing but a number.
import { startBrowser } from '../test/support/browser.ts'
import { addAll, generateDomains } from './lib/domains.ts'
import { ROUNDS, RECORDS } from './lib/options.ts'
import { startService } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

/** What is typed letter by letter: common and rare, and what nothing matches. */
const WORDS = ['casa', 'llanomar', 'sol-7', 'zzzz']
const TYPED = WORDS.flatMap((word) => [...word].map((_, i) => word.slice(0, i + 1)))
/** As somebody types who is quick. */
const BETWEEN_MS = 120
const PAGE_ROWS = 200

/** Milliseconds from the event to the frame after the answer was drawn. */
const pressed = (text: string) => `new Promise((resolve, reject) => {
  const box = document.querySelector('[role=search] input')
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
  const start = performance.now()
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => resolve(performance.now() - start)
  const look = () => {
    const table = document.querySelector('[role=grid]')
    const isAnswered = !table.classList.contains('stale') && (
      document.querySelector('.notice') !== null && document.querySelector('.table-row') === null ||
      document.querySelector('.table-row mark')?.textContent === ${JSON.stringify(text)})
    // Just before the frame is painted; what is posted here comes when it was.
    if (isAnswered) port2.postMessage(0)
    else if (performance.now() - start > 10000) reject(new Error('no answer'))
    else requestAnimationFrame(look)
  }
  set.call(box, ${JSON.stringify(text)})
  box.dispatchEvent(new Event('input', { bubbles: true }))
  requestAnimationFrame(look)
})`

/** The same list, asked for by the page and read, nothing drawn. */
const fetched = (address: string) => `(async () => {
  const start = performance.now()
  const answer = await fetch(${JSON.stringify(address)}, { cache: 'no-store' })
  await answer.json()
  return performance.now() - start
})()`

/** A mark of the focus on another row: a state of React, and the frame that shows it. */
const EMPTY = `new Promise((resolve) => {
  const grid = document.querySelector('[role=grid]')
  const start = performance.now()
  grid.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }))
  const channel = new MessageChannel()
  channel.port1.onmessage = () => resolve(performance.now() - start)
  requestAnimationFrame(() => channel.port2.postMessage(0))
})`

await withWorkspace(async (workspace) => {
  const service = await startService(workspace)
  await addAll(service, generateDomains(RECORDS))
  await using browser = await startBrowser()
  const keys = { domainwatch: service.keys.domainwatch }
  const { page } = await browser.open(service, 'dominios', keys)
  await page.locator('.table-row mark, .table-row .domain').first().waitFor()
  const times = { key: [] as number[], list: [] as number[], state: [] as number[] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const text of TYPED) {
      const query = { search: text, limit: String(PAGE_ROWS) }
      const list = Number(await page.evaluate(fetched(service.endpoint('domainwatch/list', query))))
      const key = Number(await page.evaluate(pressed(text)))
      const state = Number(await page.evaluate(EMPTY))
      await page.waitForTimeout(BETWEEN_MS)
      // The first round warms the service and the page up.
      if (round > 0)
        [times.list, times.key, times.state].forEach((all, i) => all.push([list, key, state][i] ?? NaN))
      await forget(text)
    }
  }

  console.log(
    `\nA key press among ${RECORDS.toLocaleString('en')} records, ${times.key.length} of each, milliseconds\n`,
  )
  console.log('| | median | 95 % | most |\n| --- | ---: | ---: | ---: |')
  say('key press to the frame with its answer', times.key)
  say('floor: fetching the same list in the page', times.list)
  say('floor: a state of React that changes, to its frame', times.state)

  /** So that the next round asks again: the page keeps what it was told. */
  async function forget(text: string) {
    if (text !== TYPED.at(-1)) return
    await page.goto(`${service.url}/console/dominios`)
    await page.locator('.table-row .domain').first().waitFor()
  }
})

function say(what: string, all: readonly number[]): void {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN).toFixed(1)
  console.log(`| ${what} | ${at(0.5)} | ${at(0.95)} | ${at(1)} |`)
}
