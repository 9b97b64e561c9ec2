/**
 * Writes docs/modifiers.md and its pictures: what each modifier makes of one picture, made by the engine itself. Run again
 * when rendering changes: `node scripts/modifier-pictures.ts`.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format as formatted } from 'prettier'
import sharp from 'sharp'
import { ImageEngine, type DerivedImage } from '../src/imagestore/decoder/index.ts'
import { defaultGrammar, FIELDS, modifiers, parseModifiers } from '../src/imagestore/modifiers/index.ts'

const FOLDER = new URL('../docs/images/modifiers/', import.meta.url)
const PAGE = new URL('../docs/modifiers.md', import.meta.url)

/** Hills, a sun and a house: it has an up, a left, edges, and something to look at. */
const SCENE = `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="320" viewBox="0 0 480 320">
  <defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="#2b6cb0"/><stop offset="1" stop-color="#bee3f8"/></linearGradient></defs>
  <rect width="480" height="320" fill="url(#sky)"/><circle cx="390" cy="70" r="36" fill="#f6e05e"/>
  <path d="M0 230 120 120 230 220 330 140 480 240V320H0Z" fill="#2f855a"/><path d="M0 270 200 210 480 280V320H0Z" fill="#9ae6b4"/>
  <rect x="96" y="196" width="72" height="60" fill="#fff5f5"/><path d="M84 200 132 156 180 200Z" fill="#c53030"/>
  <rect x="122" y="222" width="20" height="34" fill="#744210"/></svg>`
const MARK = `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="80"><rect width="240" height="80" rx="40" fill="#1a202c"/>
  <circle cx="44" cy="40" r="20" fill="#f6e05e"/><rect x="80" y="30" width="124" height="20" rx="10" fill="#fff"/></svg>`

interface Group {
  readonly title: string
  readonly text: string
  /** What is shown, each under its modifiers. */
  readonly shown: readonly string[]
  /** What they are made of. */
  readonly from?: 'scene' | 'framed' | 'clear' | 'moving'
}

const groups: Group[] = [
  {
    title: 'Width and height',
    text: '',
    shown: ['w_160', 'h_60', 's_90x90', '90x90'],
  },
  {
    title: 'Proportions',
    text: '',
    shown: ['w_160,ar_1:1,c_fill', 'w_160,ar_16:9,c_fill'],
  },
  { title: 'Density', text: '', shown: ['w_80', 'w_80,dpr_2'] },
  {
    title: 'Enlarging',
    text: 'The picture is 240 pixels wide.',
    shown: ['w_280', 'w_280,up'],
  },
  {
    title: 'Fit',
    text: 'A box of 140 × 140.',
    shown: ['fit', 'fill', 'pad', 'crop', 'scale'].map(
      (fit) => `s_140x140,c_${fit}${fit === 'pad' ? ',bg_edf2f7' : ''}`,
    ),
  },
  {
    title: 'Position of a crop',
    text: '',
    shown: ['center', 'n', 'ne', 'e', 'se', 's', 'sw', 'w', 'nw', 'auto', 'entropy', 'xy_0.28_0.65'].map(
      (point) => `s_90x90,c_${point === 'auto' || point === 'entropy' ? 'fill' : 'crop'},g_${point}`,
    ),
  },
  {
    title: 'Part of the picture',
    text: '',
    shown: ['rect_40_90_60_50', 'rel_0.5_0_0.5_0.5'],
  },
  {
    title: 'Rotation and mirroring',
    text: '',
    shown: ['w_120,r_90', 'w_120,r_180', 'w_120,r_270', 'w_120,flip', 'w_120,flop'],
  },
  {
    title: 'Trimming',
    text: '',
    shown: ['w_140', 'w_140,trim'],
    from: 'framed',
  },
  {
    title: 'Border and background',
    text: '',
    shown: ['w_120,pad_12', 'w_120,pad_12,bg_c53030', 'w_120,pad_12,bg_c5303080'],
  },
  {
    title: 'Background of transparent parts',
    text: '',
    shown: ['w_120', 'w_120,bg_fc0', 'w_120,f_jpg'],
    from: 'clear',
  },
  {
    title: 'Format',
    text: 'The same picture with its size in bytes.',
    shown: ['w_160,f_jpg', 'w_160,f_webp', 'w_160,f_avif', 'w_160,f_png', 'w_160,f_gif'],
  },
  {
    title: 'Quality',
    text: '',
    shown: ['w_160,f_jpg,q_5', 'w_160,f_jpg,q_40', 'w_160,f_jpg,q_auto', 'w_160,f_jpg,q_100'],
  },
  {
    title: 'Blur, sharpness, colour',
    text: '',
    shown: [
      'blur_1',
      'blur_6',
      'sharpen',
      'gray',
      'bright_-40',
      'bright_40',
      'contrast_-60',
      'contrast_60',
      'sat_-60',
      'sat_100',
    ].map((effect) => `w_140,${effect}`),
  },
  { title: 'Blocks', text: '', shown: ['w_160,pixelate_4', 'w_160,pixelate_16'] },
  { title: 'Corners', text: '', shown: ['w_140,rad_16,f_png', 's_120x120,c_fill,g_w,rad_max,f_png'] },
  {
    title: 'Watermark',
    text: 'Defined in the [settings](operations/configuration.md#presets-and-watermarks); here 40 percent wide, at the bottom right.',
    shown: ['w_200,wm_logo', 'w_200,wm_logo,wmg_nw,wms_25,wmo_60'],
  },
  {
    title: 'Animation',
    text: 'Frames, delays and loops are kept; `frame_N` selects one frame.',
    shown: ['w_120', 'w_120,gray', 'w_120,frame_0', 'w_120,frame_2'],
    from: 'moving',
  },
  { title: 'Presets', text: '', shown: ['s', 'b', 't', 'm'] },
]
/** Modifiers that cannot be seen in a picture of their own. */
const UNSEEN: readonly string[] = ['meta', 'dl']
const shownKeys = new Set(groups.flatMap(({ shown }) => shown.flatMap((text) => text.split(',').map(keyOf))))
for (const field of FIELDS) {
  const { key, description, examples } = modifiers[field]
  if (shownKeys.has(key) || UNSEEN.includes(key)) continue
  groups.push({ title: `\`${key}\``, text: `${description}.`, shown: examples.map((one) => `w_160,${one}`) })
}

function keyOf(token: string): string {
  return token.split('_', 1)[0] ?? token
}

const folder = await mkdtemp(join(tmpdir(), 'catalejo-pictures-'))
const engine = new ImageEngine({ workers: 2 })
try {
  const paths = await sources()
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  const sections: string[] = []
  /** The first picture of each modifier, by its key. */
  const thumbnails = new Map<string, string>()
  for (const { title, text, shown, from = 'scene' } of groups) {
    const cells: string[] = []
    for (const modifier of shown) {
      const cell = await picture(paths[from], modifier, paths.mark, from)
      const [, image = ''] = cell.split('<br>')
      cells.push(cell)
      for (const key of modifier.split(',').map(keyOf).reverse()) {
        if (!thumbnails.has(key)) thumbnails.set(key, image)
      }
    }
    sections.push(`## ${title}\n\n${text === '' ? '' : `${text}\n\n`}${cells.join('\n')}`)
  }
  const page = `${head()}\n${reference(thumbnails)}\n\n${sections.join('\n\n')}\n`
  await writeFile(PAGE, await formatted(page, { parser: 'markdown' }))
} finally {
  await engine.close()
  await rm(folder, { recursive: true })
}

function head(): string {
  return `# Modifiers in pictures

This page shows what each [modifier](api/imagestore-links.md#modifiers) makes of a picture of 240 × 160 pixels.
`
}

/** One row for each modifier, in canonical order. */
function reference(thumbnails: ReadonlyMap<string, string>): string {
  const rows = FIELDS.map((field) => {
    const { key, values, description } = modifiers[field]
    const token = values === '' ? key : `${key}_…`
    return `| \`${token}\` | ${values} | ${description} | ${thumbnails.get(key) ?? ''} |`
  })
  const table = ['| Modifier | Values | Effect | Example |', '| --- | --- | --- | --- |', ...rows]
  return `## Reference\n\nIn canonical order, which is that of the text that a signature covers.\n\n${table.join('\n')}`
}

async function sources() {
  const scene = sharp(Buffer.from(SCENE)).resize(240, 160)
  const write = async (name: string, bytes: Buffer): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, bytes)
    return path
  }
  const framed = scene.clone().extend({ top: 30, bottom: 30, left: 30, right: 30, background: '#ffffff' })
  const clear = sharp(
    Buffer.from(SCENE.replace('<rect width="480" height="320" fill="url(#sky)"/>', '')),
  ).resize(240, 160)
  const frames = await Promise.all(
    [0, 120, 240].map((hue) => scene.clone().resize(120, 80).modulate({ hue }).png().toBuffer()),
  )
  const moving = sharp(frames, { join: { animated: true } }).gif({
    delay: [400, 400, 400],
    loop: 0,
    colours: 32,
  })
  return {
    scene: await write('scene.png', await scene.clone().png().toBuffer()),
    framed: await write('framed.png', await framed.png().toBuffer()),
    clear: await write('clear.png', await clear.png().toBuffer()),
    moving: await write('moving.gif', await moving.toBuffer()),
    mark: await write('mark.png', await sharp(Buffer.from(MARK)).png().toBuffer()),
  }
}

/** The picture's line: itself, the modifiers and what came out. */
async function picture(path: string, modifier: string, markPath: string, from: string): Promise<string> {
  const made = await derive(
    path,
    /f_|frame_/.test(modifier) || from === 'moving' || from === 'clear' ? modifier : `${modifier},f_webp`,
    markPath,
  )
  const kind = made.mime.replace('image/', '').replace('jpeg', 'jpg')
  const name = `${from === 'scene' ? '' : `${from}-`}${modifier.replaceAll(/[^\w.]+/g, '-')}.${kind}`
  await writeFile(new URL(name, FOLDER), made.bytes)
  const size = /f_/.test(modifier) ? `, ${made.bytes.byteLength} bytes` : ''
  const { width, height, pageHeight = height } = await sharp(made.bytes).metadata()
  return `- \`${modifier}\`: ${width}×${pageHeight}${size}<br>![${modifier}](images/modifiers/${name})`
}

async function derive(path: string, modifier: string, markPath: string): Promise<DerivedImage> {
  const parsed = parseModifiers(modifier, undefined, {
    presets: defaultGrammar.presets,
    watermarks: new Set(['logo']),
  })
  if (!parsed.ok) throw new Error(`${modifier}: ${JSON.stringify(parsed.fault)}`)
  const { format, ...rest } = parsed.transformation
  if (format === 'auto') throw new Error('f_auto is up to the client')
  const watermark =
    rest.watermark === null
      ? undefined
      : { path: markPath, place: { at: 'se' as const, width: 40, margin: 4, opacity: 80 } }
  const made = await engine.derive(path, { ...rest, format }, undefined, watermark)
  if (made.kind !== 'image') throw new Error(`${modifier}: ${JSON.stringify(made)}`)
  return made
}
