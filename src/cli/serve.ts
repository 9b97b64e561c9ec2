import cluster from 'node:cluster'
import type { Options } from './options.ts'

export async function serve({ config }: Options): Promise<void> {
  // Nobody reading what is printed is no reason to stop serving.
  process.stdout.on('error', () => {})
  if (config.workers > 1 && cluster.isPrimary) {
    // It loads nothing of what the workers do.
    return (await import('./serve/primary.ts')).servePrimary(config)
  }
  const crew = config.workers > 1 ? (await import('./serve/crew.ts')).joinCrew() : undefined
  return (await import('./serve/process.ts')).serveProcess(config, crew)
}
