// SPDX-License-Identifier: MIT
//
// The points of the sphere, drawn by WebGL through three.js: up to hundreds of thousands, as they come from the report,
// 16 bits a coordinate. Everything that changes from one picture to the next is a uniform, so that turning, zooming and
// lighting up a cluster upload nothing.
import * as THREE from "three";
import type { Colours } from "../data/colours";
import { channels } from "../data/colours";
import type { Points } from "../data/points";
import { dotRadius } from "./dot_radius";
import type { PointsLayer } from "./points_layer";
import type { Look } from "./scene";
import type { Box, View } from "./view";

const VERTEX = `
uniform mat3 turn;
uniform vec2 centre;
uniform vec2 reach;
uniform float size;
uniform float chosen;
uniform float through;
uniform vec3 behind;
attribute vec3 colour;
attribute float label;
varying vec3 shade;
varying float diameter;
void main() {
  vec3 p = turn * position;
  bool far = p.z < 0.0;
  bool dim = chosen > -1.5 && abs(label - chosen) > 0.5;
  bool lit = chosen > -1.5 && !dim;
  float light = 0.72 + 0.28 * max(p.z, 0.0);
  if (far) light = 0.3;
  if (dim) light *= 0.22;
  shade = mix(behind, colour, light);
  diameter = size * (far ? 0.7 : 1.0);
  gl_PointSize = diameter + 1.0; // room for the soft edge
  gl_Position = vec4(centre + reach * p.xy, -0.45 * p.z - (lit ? 0.5 : 0.0), 1.0);
  if (far && through < 0.5) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

const FRAGMENT = `
varying vec3 shade;
varying float diameter;
void main() {
  float far = length(gl_PointCoord - 0.5) * (diameter + 1.0);
  float alpha = clamp(0.5 * diameter - far + 0.5, 0.0, 1.0);
  if (alpha < 0.05) discard;
  gl_FragColor = vec4(shade * alpha, alpha);
}`;

export class GlPoints implements PointsLayer {
  readonly element: HTMLCanvasElement;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly camera = new THREE.Camera();
  private readonly material: THREE.ShaderMaterial;
  private cloud: THREE.Points | null = null;
  private count = 0;
  private width = 0;
  private height = 0;

  constructor(canvas: HTMLCanvasElement, context: WebGL2RenderingContext) {
    this.renderer = new THREE.WebGLRenderer({
      canvas,
      context,
      alpha: true,
      antialias: false,
      premultipliedAlpha: true,
    });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio || 1, 2));
    this.element = this.renderer.domElement;
    this.element.className = "points";
    this.element.setAttribute("aria-hidden", "true");
    this.material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        turn: { value: new THREE.Matrix3() },
        centre: { value: new THREE.Vector2() },
        reach: { value: new THREE.Vector2() },
        size: { value: 4 },
        chosen: { value: -2 },
        through: { value: 0 },
        behind: { value: new THREE.Vector3() },
      },
      blending: THREE.CustomBlending,
      blendSrc: THREE.OneFactor,
      blendDst: THREE.OneMinusSrcAlphaFactor,
    });
  }

  /** Places that are there already are not sent again: a step of a slider changes labels and colours only. */
  set(points: Points, colours: Colours): void {
    const labels = Float32Array.from(points.labels),
      painted = paint(points, colours),
      { geometry } = this.cloud ?? {};
    if (geometry && geometry.getAttribute("position").array === points.xyz) {
      update(geometry, "colour", painted);
      update(geometry, "label", labels);
      return;
    }
    geometry?.dispose();
    this.scene.clear();
    this.count = points.count;
    const fresh = new THREE.BufferGeometry();
    fresh.setAttribute("position", new THREE.BufferAttribute(points.xyz, 3, true));
    fresh.setAttribute("colour", new THREE.BufferAttribute(painted, 3, true));
    fresh.setAttribute("label", new THREE.BufferAttribute(labels, 1));
    this.cloud = new THREE.Points(fresh, this.material);
    this.cloud.frustumCulled = false;
    this.scene.add(this.cloud);
  }

  draw(view: View, box: Box, width: number, height: number, look: Look): void {
    const { ink, active, through } = look;
    this.resize(width, height);
    const uniforms = this.material.uniforms as Record<string, THREE.IUniform>;
    const set = (name: string, value: unknown): void => {
      (uniforms[name] as THREE.IUniform).value = value;
    };
    set("turn", new THREE.Matrix3(...view.rotation));
    set("centre", new THREE.Vector2((2 * box.x) / width - 1, 1 - (2 * box.y) / height));
    set("reach", new THREE.Vector2((2 * box.radius) / width, (2 * box.radius) / height));
    set("size", 2 * dotRadius(this.count, view.zoom) * this.renderer.getPixelRatio());
    set("chosen", active ?? -2);
    set("through", through ? 1 : 0);
    set("behind", new THREE.Vector3(...channels(ink.globe).map((value) => value / 255)));
    this.renderer.render(this.scene, this.camera);
  }

  private resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.renderer.setSize(width, height);
  }
}

function update(geometry: THREE.BufferGeometry, name: string, numbers: Uint8Array | Float32Array): void {
  const attribute = geometry.getAttribute(name) as THREE.BufferAttribute;
  attribute.array = numbers;
  attribute.needsUpdate = true;
}

function paint(points: Points, colours: Colours): Uint8Array {
  const { labels } = points,
    bytes = new Uint8Array(3 * points.count),
    known = new Map<number, readonly [number, number, number]>();
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i] as number;
    let colour = known.get(label);
    if (!colour) known.set(label, (colour = colours.rgb(label)));
    bytes[3 * i] = colour[0];
    bytes[3 * i + 1] = colour[1];
    bytes[3 * i + 2] = colour[2];
  }
  return bytes;
}
