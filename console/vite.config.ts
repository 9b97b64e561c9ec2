import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

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
    license: { fileName: 'licences.md' },
  },
})
