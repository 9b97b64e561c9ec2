// Preloaded into Directus. Its sandbox for extensions (isolated-vm) needs to be compiled, which `npm ci` does not do
// here. The benchmarks do not run extensions, so an empty module replaces it.
import { registerHooks } from 'node:module'

const empty = new URL('./isolated-vm.cjs', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'isolated-vm'
      ? { url: empty, format: 'commonjs', shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url === empty
      ? { format: 'commonjs', source: 'module.exports = {}', shortCircuit: true }
      : next(url, context),
})
