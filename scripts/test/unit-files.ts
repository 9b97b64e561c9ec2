/**
 * Runs the files that UNIT_FILES names in this one process, each as a test of its own, so that what a file leaves behind is
 * cleaned up when it ends. Saves the start of a process for each file.
 */
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

for (const file of process.env['UNIT_FILES']?.split(' ') ?? []) {
  test(file, async () => {
    await import(pathToFileURL(file).href)
  })
}
