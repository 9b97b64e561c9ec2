// Preloaded into Directus: its sandbox for extensions (isolated-vm) is compiled when it is installed, which this package
// does not do. Nothing that is measured runs an extension, so an empty module stands in its place.
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
