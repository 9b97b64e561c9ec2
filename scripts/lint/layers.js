// Lint rules for the walls of the house, loaded by the linter (.oxlintrc.json). Plain JavaScript, because the linter
// loads it with whatever Node runs it.
import { posix, relative } from 'node:path'

const FEATURES = ['accounts', 'admin', 'domainwatch', 'imagestore']
const SHARED = ['lib', 'storage', 'http']
const FRAMEWORK_FOLDERS = ['http', 'server', 'imagestore']

/** What each room of src/ may import of ours besides itself. `cli` is the only one that may import everything. */
const MAY_IMPORT = {
  lib: [],
  storage: ['lib'],
  http: ['lib', 'storage'],
  console: ['lib', 'http'],
  ...Object.fromEntries(FEATURES.map((feature) => [feature, SHARED])),
  server: [...SHARED, ...FEATURES, 'console'],
  operations: [...SHARED, 'imagestore', 'server'],
}

/** Where a file stands under src/, as `folder/file`; undefined for what is elsewhere (tests, benches, scripts). */
function placeOf(filename) {
  const path = filename.replaceAll('\\', '/')
  const at = path.lastIndexOf('/src/')
  return at === -1 || path.endsWith('.test.ts') ? undefined : path.slice(at + '/src/'.length)
}

const folderOf = (place) => (place.includes('/') ? place.slice(0, place.indexOf('/')) : '')
/** The library that a file under lib/ belongs to: `lib/dns`. Undefined for the small helpers in lib/ itself. */
function libraryOf(place) {
  const parts = place.split('/')
  return parts[0] === 'lib' && parts.length > 2 ? `${parts[0]}/${parts[1]}` : undefined
}
const isQueries = (place) => /^queries[^/]*\.ts$/.test(posix.basename(place))

/** Calls `visit(node, target)` for every module named, statically or by a literal in `import()`. */
function onImports(visit) {
  const look = (node) => {
    if (node.source?.type === 'Literal' && typeof node.source.value === 'string')
      visit(node, node.source.value)
  }
  return {
    ImportDeclaration: look,
    ExportNamedDeclaration: look,
    ExportAllDeclaration: look,
    ImportExpression: look,
  }
}

const layers = {
  create(context) {
    const place = placeOf(context.filename)
    const allowed = place === undefined ? undefined : MAY_IMPORT[folderOf(place)]
    if (allowed === undefined) return {}
    const own = folderOf(place)
    const library = libraryOf(place)
    return onImports((node, specifier) => {
      if (!specifier.startsWith('.')) return
      const target = posix.join(posix.dirname(place), specifier)
      if (library !== undefined) {
        if (target.startsWith(`${library}/`)) return
        context.report({ node, message: `${library} may import nothing of ours, not ${specifier}` })
        return
      }
      if (folderOf(target) === own || allowed.includes(folderOf(target))) return
      const may = allowed.length === 0 ? 'nothing of ours' : `only ${allowed.join(', ')}`
      context.report({ node, message: `${own} may import ${may}, not ${specifier}` })
    })
  },
}

/** The console's files live in a browser and know the service by its public API alone. */
const consoleStandsAlone = {
  create(context) {
    const place = relative(context.cwd, context.filename).replaceAll('\\', '/')
    const isConsole = place.startsWith('console/')
    if (!isConsole && !place.startsWith('src/')) return {}
    if (/\.test\.tsx?$/.test(place) || place === 'console/vite.config.ts') return {}
    return onImports((node, specifier) => {
      const target = specifier.startsWith('.') ? posix.join(posix.dirname(place), specifier) : specifier
      if (isConsole) {
        if (specifier.startsWith('.') ? target.startsWith('console/') : !specifier.startsWith('node:')) return
        context.report({ node, message: `the console may import nothing of the server, not ${specifier}` })
      } else if (target.startsWith('console/')) {
        context.report({ node, message: `the service may import nothing of the console, not ${specifier}` })
      }
    })
  },
}

const sharpOnlyInImagestore = {
  create(context) {
    const place = placeOf(context.filename)
    if (place === undefined || folderOf(place) === 'imagestore') return {}
    return onImports((node, specifier) => {
      if (specifier !== 'sharp') return
      context.report({ node, message: 'sharp is only for imagestore' })
    })
  },
}

const fastifyOnlyInHttp = {
  create(context) {
    const place = placeOf(context.filename)
    if (place === undefined || FRAMEWORK_FOLDERS.includes(folderOf(place))) return {}
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
    const place = placeOf(context.filename)
    if (place === undefined || place.startsWith('storage/database/') || isQueries(place)) return {}
    const message = 'SQL is only for storage/database/ and files named queries*.ts'
    return {
      // Types (a query that is handed on) are no SQL.
      ImportDeclaration(node) {
        if (!/(^|\/)(sql\.ts|sql-template-tag|node:sqlite)$/.test(node.source.value)) return
        if (node.importKind === 'type' || node.specifiers.every((one) => one.importKind === 'type')) return
        context.report({ node, message })
      },
      // Statements that were written without the tag.
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
    const place = placeOf(context.filename)
    if (place === undefined || place === 'server/config/config.ts') return {}
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

/** Functions of node:fs that create files or folders, with the modes that the umask leaves. */
const CREATES =
  /^(appendFile|copyFile|cp|createWriteStream|mkdir|mkdtemp|mkdtempDisposable|symlink|writeFile)(Sync)?$/

const filesArePrivate = {
  create(context) {
    const place = placeOf(context.filename)
    if (place === undefined || place === 'lib/private-files.ts') return {}
    const message = 'files and folders are created by lib/private-files.ts only'
    /** Local names of `open` and `openSync`. */
    const opens = new Set()
    return {
      ImportDeclaration(node) {
        if (!/^(node:)?fs(\/promises)?$/.test(node.source.value)) return
        for (const one of node.specifiers) {
          const name = one.imported?.name
          // A whole module would hide what is used of it.
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

/** Whether these flags of `open` create nothing: none, 'r', or a constant that says so. */
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
    'console-stands-alone': consoleStandsAlone,
    'sharp-only-in-imagestore': sharpOnlyInImagestore,
    'fastify-only-in-http': fastifyOnlyInHttp,
    'no-node-internals': noNodeInternals,
    'sql-only-in-queries': sqlOnlyInQueries,
    'environment-only-in-config': environmentOnlyInConfig,
    'files-are-private': filesArePrivate,
  },
}
