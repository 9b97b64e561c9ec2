import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/**
 * What most screens of domains need, in one chunk: a request for each of these small modules would take longer on a slow
 * connection than all of them.
 */
const COMMON = [
  /\/console\/features\/domains\/(annotations|changes|marks|optimistic-updates|records|tags)\.tsx?$/,
  /\/console\/(features\/filters\/filter-(counts|errors)|api\/retry|design\/actions)\.tsx?$/,
  /\/console\/design\/(buttons|dialog|notice)\.tsx$/,
  /\/@tanstack\/(react-query|query-core)\//,
]

/** Builds the files that `src/console` serves: hashed names in `assets/`, relative URLs. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [react()],
  build: {
    outDir: '../assets/console',
    target: 'es2023',
    assetsInlineLimit: 0,
    // All styles in one file, so that screens fetched later have theirs.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // It would warn on a slow machine.
      checks: { pluginTimings: false },
      output: {
        codeSplitting: {
          groups: [{ name: 'common', test: (id) => COMMON.some((pattern) => pattern.test(id)) }],
        },
      },
    },
    license: { fileName: 'licences.md' },
  },
})
