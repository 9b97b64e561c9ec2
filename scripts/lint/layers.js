// Lint rules for the architecture, loaded by the linter (.oxlintrc.json). Plain JavaScript, because the linter may run on any
// version of Node.
import { posix, relative } from 'node:path'

const FEATURES = ['accounts', 'admin', 'domainwatch', 'imagestore']
const SHARED = ['lib', 'storage', 'http']
const FRAMEWORK_FOLDERS = ['http', 'server']

/** Folders of src/ that each folder may import besides itself. Only `cli` may import everything. */
const MAY_IMPORT = {
  lib: [],
  storage: ['lib'],
  http: ['lib', 'storage'],
  console: ['lib', 'http'],
  deliveries: SHARED,
  ...Object.fromEntries(FEATURES.map((feature) => [feature, [...SHARED, 'deliveries']])),
  server: [...SHARED, 'deliveries', ...FEATURES, 'console', 'operations'],
  operations: ['lib', 'storage', 'imagestore'],
}

/** Returns a file's path below src/; undefined for tests and for files elsewhere. */
function sourcePath(filename) {
  const path = filename.replaceAll('\\', '/')
  const at = path.lastIndexOf('/src/')
  return at === -1 || path.endsWith('.test.ts') ? undefined : path.slice(at + '/src/'.length)
}

const folderOf = (path) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')
/** Returns the library of a file below lib/, such as `lib/dns`; undefined for single files in lib/. */
function toLibrary(path) {
  const parts = path.split('/')
  return parts[0] === 'lib' && parts.length > 2 ? `${parts[0]}/${parts[1]}` : undefined
}
const isQueries = (path) => /^queries[^/]*\.ts$/.test(posix.basename(path))

/** Calls `visit(node, specifier)` for every static import or export, and every `import()` of a literal. */
function onImports(visit) {
  const check = (node) => {
    if (node.source?.type === 'Literal' && typeof node.source.value === 'string')
      visit(node, node.source.value)
  }
  return {
    ImportDeclaration: check,
    ExportNamedDeclaration: check,
    ExportAllDeclaration: check,
    ImportExpression: check,
  }
}

const layers = {
  create(context) {
    const path = sourcePath(context.filename)
    const allowed = path === undefined ? undefined : MAY_IMPORT[folderOf(path)]
    if (allowed === undefined) return {}
    const own = folderOf(path)
    const library = toLibrary(path)
    return onImports((node, specifier) => {
      if (!specifier.startsWith('.')) return
      const target = posix.join(posix.dirname(path), specifier)
      if (library !== undefined) {
        if (target.startsWith(`${library}/`)) return
        context.report({ node, message: `${library} may only import its own folder, not ${specifier}` })
        return
      }
      if (folderOf(target) === own || allowed.includes(folderOf(target))) return
      const may = allowed.length === 0 ? 'no other folder' : `only ${allowed.join(', ')}`
      context.report({ node, message: `${own} may import ${may}, not ${specifier}` })
    })
  },
}

/** The console runs in a browser, and uses the service through its public API only, as clients/js does. */
const consoleIsSeparate = {
  create(context) {
    const path = relative(context.cwd, context.filename).replaceAll('\\', '/')
    const isConsole = path.startsWith('console/')
    if (!isConsole && !path.startsWith('src/')) return {}
    if (/\.test\.tsx?$/.test(path) || path === 'console/vite.config.ts') return {}
    return onImports((node, specifier) => {
      const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier
      if (isConsole) {
        if (
          specifier.startsWith('.') ? /^(console|clients\/js)\//.test(target) : !specifier.startsWith('node:')
        )
          return
        context.report({ node, message: `the console may not import the server, not ${specifier}` })
      } else if (target.startsWith('console/')) {
        context.report({ node, message: `the service may not import the console, not ${specifier}` })
      }
    })
  },
}

/** Folders of the console: each imports itself and those before it. Texts and helpers need each other. */
const CONSOLE_LAYERS = [['base', 'i18n'], ['api'], ['design'], ['features'], ['shell']]
const toLayer = (folder) => CONSOLE_LAYERS.findIndex((folders) => folders.includes(folder))

const consoleLayers = {
  create(context) {
    const [top, own, ...rest] = relative(context.cwd, context.filename).replaceAll('\\', '/').split('/')
    const layer = toLayer(own)
    if (top !== 'console' || layer === -1) return {}
    return onImports((node, specifier) => {
      if (!specifier.startsWith('.')) return
      const path = posix.join(own, ...rest.slice(0, -1), specifier)
      const target = folderOf(path)
      if (path.startsWith('../') || (toLayer(target) <= layer && toLayer(target) !== -1)) return
      const may = CONSOLE_LAYERS.slice(0, layer + 1).flat()
      context.report({ node, message: `${own} may import only ${may.join(', ')}, not ${specifier}` })
    })
  },
}

const sharpOnlyInImagestore = {
  create(context) {
    const path = sourcePath(context.filename)
    if (path === undefined || folderOf(path) === 'imagestore') return {}
    return onImports((node, specifier) => {
      if (specifier !== 'sharp') return
      context.report({ node, message: 'sharp is only for imagestore' })
    })
  },
}

const fastifyOnlyInHttp = {
  create(context) {
    const path = sourcePath(context.filename)
    if (path === undefined || FRAMEWORK_FOLDERS.includes(folderOf(path))) return {}
    return onImports((node, specifier) => {
      if (!/^(@fastify\/|fastify($|\/))/.test(specifier)) return
      context.report({
        node,
        message: 'fastify is only for http and server: import types from http/server.ts',
      })
    })
  },
}

/** Private fields of Node's HTTP classes: they may change in any release. */
const NODE_INTERNALS = ['_header', '_headerSent', '_keepAliveTimeout', '_httpMessage']

const noNodeInternals = {
  create(context) {
    const path = relative(context.cwd, context.filename).replaceAll('\\', '/')
    if (!/^(src|bin)\//.test(path)) return {}
    const check = (node, key, isComputed) => {
      const name = isComputed || key.type === 'Literal' ? key.value : key.name
      if (NODE_INTERNALS.includes(name))
        context.report({ node, message: `${name} is a private field of Node` })
    }
    return {
      MemberExpression: (node) => check(node, node.property, node.computed),
      ObjectPattern: (node) => {
        for (const one of node.properties) if (one.type === 'Property') check(one, one.key, one.computed)
      },
    }
  },
}

const sqlOnlyInQueries = {
  create(context) {
    const path = sourcePath(context.filename)
    if (path === undefined || path.startsWith('storage/database/') || isQueries(path)) return {}
    const message = 'SQL is only for storage/database/ and files named queries*.ts'
    return {
      // Types are allowed, to pass queries on.
      ImportDeclaration(node) {
        if (!/(^|\/)(sql\.ts|sql-template-tag|node:sqlite)$/.test(node.source.value)) return
        if (node.importKind === 'type' || node.specifiers.every((one) => one.importKind === 'type')) return
        context.report({ node, message })
      },
      // Statements without the tag.
      Literal(node) {
        if (isStatement(node.value)) context.report({ node, message })
      },
      TemplateElement(node) {
        if (isStatement(node.value.cooked)) context.report({ node, message })
      },
    }
  },
}

const isStatement = (text) =>
  typeof text === 'string' &&
  /^\s*(SELECT\s.+\sFROM\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|PRAGMA\s)/s.test(
    text,
  )

const environmentOnlyInConfig = {
  create(context) {
    const path = sourcePath(context.filename)
    if (path === undefined || path === 'server/config/config.ts') return {}
    const message = 'the environment is read by server/config/config.ts only'
    return {
      MemberExpression(node) {
        const name = node.computed ? node.property.value : node.property.name
        if (node.object.name === 'process' && name === 'env') context.report({ node, message })
      },
      ImportDeclaration(node) {
        if (!/^(node:)?process$/.test(node.source.value)) return
        if (node.specifiers.some((one) => one.imported?.name === 'env')) context.report({ node, message })
      },
    }
  },
}

/** Functions of node:fs that create files or folders with the mode of the umask. */
const CREATES =
  /^(appendFile|copyFile|cp|createWriteStream|mkdir|mkdtemp|mkdtempDisposable|symlink|writeFile)(Sync)?$/

const filesArePrivate = {
  create(context) {
    const path = sourcePath(context.filename)
    if (path === undefined || path === 'lib/private-files.ts') return {}
    const message = 'files and folders are created by lib/private-files.ts only'
    /** Local names of `open` and `openSync`. */
    const opens = new Set()
    return {
      ImportDeclaration(node) {
        if (!/^(node:)?fs(\/promises)?$/.test(node.source.value)) return
        for (const one of node.specifiers) {
          const name = one.imported?.name
          // With the whole module, its uses would not be seen.
          if (name === undefined || CREATES.test(name)) context.report({ node, message })
          if (name === 'open' || name === 'openSync') opens.add(one.local.name)
        }
      },
      CallExpression(node) {
        if (node.callee.type !== 'Identifier' || !opens.has(node.callee.name)) return
        const [, flags] = node.arguments
        if (!isReading(flags)) context.report({ node, message })
      },
    }
  },
}

/** Returns whether flags of `open` create nothing: none, 'r', or a read-only constant. */
function isReading(flags) {
  if (flags === undefined || flags.value === 'r') return true
  if (flags.type === 'Identifier') return flags.name.startsWith('READ_')
  return flags.type === 'BinaryExpression' && isReadOnlyConstant(flags.left)
}

const isReadOnlyConstant = (node) =>
  node.type === 'MemberExpression' ? node.property.name === 'O_RDONLY' : isReading(node)

export default {
  meta: { name: 'house' },
  rules: {
    layers,
    'console-is-separate': consoleIsSeparate,
    'console-layers': consoleLayers,
    'sharp-only-in-imagestore': sharpOnlyInImagestore,
    'fastify-only-in-http': fastifyOnlyInHttp,
    'no-node-internals': noNodeInternals,
    'sql-only-in-queries': sqlOnlyInQueries,
    'environment-only-in-config': environmentOnlyInConfig,
    'files-are-private': filesArePrivate,
  },
}
