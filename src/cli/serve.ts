import cluster from 'node:cluster'
import type { Options } from './options.ts'

/** `catalejo serve`: in this process, or as the primary or a worker of several. */
export async function serve({ config }: Options): Promise<void> {
  // The service keeps running if standard output is closed.
  process.stdout.on('error', () => {})
  if (config.workers > 1 && cluster.isPrimary) {
    // The primary does not load the code of the workers.
    return (await import('./serve/primary.ts')).servePrimary(config)
  }
  const channel =
    config.workers > 1 ? (await import('./serve/worker-channel.ts')).openWorkerChannel() : undefined
  return (await import('./serve/process.ts')).serveProcess(config, channel)
}
