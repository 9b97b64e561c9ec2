import cluster from 'node:cluster'
import { readOptions } from './options.ts'
import { usageFault } from './usage.ts'

export async function serve(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  if (options === undefined) return
  if (options.positionals.length > 0) return usageFault(`serve takes no ${options.positionals[0]}`)
  const { config } = options

  // Nobody reading what is printed is no reason to stop serving.
  process.stdout.on('error', () => {})
  if (config.workers > 1 && cluster.isPrimary) {
    // It loads nothing of what the workers do.
    return (await import('./serve/primary.ts')).servePrimary(config)
  }
  const crew = config.workers > 1 ? (await import('./serve/crew.ts')).joinCrew() : undefined
  return (await import('./serve/process.ts')).serveProcess(config, crew)
}
