import { emptyPlan, type Gravity, type Plan } from './plan.ts'

const gravityText = (gravity: Gravity): string => {
  switch (gravity.kind) {
    case 'compass':
      return gravity.point
    case 'point':
      return `xy_${gravity.x}_${gravity.y}`
    case 'auto':
    case 'entropy':
      return gravity.kind
  }
}

/** How each field is written; the order here is the order of the text. A new field of `Plan` fails to compile until it is here. */
const writers = {
  width: (plan) => `w_${plan.width}`,
  height: (plan) => `h_${plan.height}`,
  ratio: (plan) => `ar_${plan.ratio?.join(':')}`,
  dpr: (plan) => `dpr_${plan.dpr}`,
  enlarge: () => 'up',
  fit: (plan) => `c_${plan.fit}`,
  gravity: (plan) => `g_${gravityText(plan.gravity)}`,
  trim: () => 'trim',
  rotate: (plan) => `r_${plan.rotate}`,
  flip: () => 'flip',
  flop: () => 'flop',
  pad: (plan) => `pad_${plan.pad}`,
  background: (plan) => `bg_${plan.background}`,
  format: (plan) => `f_${plan.format}`,
  quality: (plan) => `q_${plan.quality}`,
  blur: (plan) => `blur_${plan.blur}`,
  sharpen: () => 'sharpen',
  gray: () => 'gray',
  pixelate: (plan) => `pixelate_${plan.pixelate}`,
  radius: (plan) => `rad_${plan.radius}`,
  frame: (plan) => `frame_${plan.frame}`,
  keepMetadata: () => 'meta_keep',
  watermark: (plan) => `wm_${plan.watermark}`,
  client: ({ client }) => `client_${client?.formats.join('-')}${client?.light === true ? '-light' : ''}`,
} satisfies Record<keyof Plan, (plan: Plan) => string>

/** The plan as modifiers in a fixed order, defaults left out: equal plans have equal texts, so it serves as a cache key. */
export function canonical(plan: Plan): string {
  const given = new Map<string, unknown>(Object.entries(plan))
  const usual = new Map<string, unknown>(Object.entries(emptyPlan))
  return Object.entries(writers)
    .filter(([field]) => JSON.stringify(given.get(field)) !== JSON.stringify(usual.get(field)))
    .map(([, write]) => write(plan))
    .join(',')
}

/** True when the plan leaves the image as it is. */
export const isIdentity = (plan: Plan): boolean => canonical(plan) === ''
