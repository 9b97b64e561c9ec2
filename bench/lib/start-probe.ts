import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Probed } from './probe.ts'

const PROBE = fileURLToPath(new URL('probe.ts', import.meta.url))

/** Requests a URL repeatedly from its own process, so that work of the benchmark does not distort the latency. */
export async function startProbe(url: string): Promise<{ stop(): Promise<Probed> }> {
  const child = fork(PROBE, [url])
  await once(child, 'message')
  return {
    async stop() {
      const answer = once(child, 'message')
      child.send('stop')
      const [result]: Probed[] = await answer
      child.disconnect()
      if (result === undefined) throw new Error('the probe reported no result')
      return result
    },
  }
}
