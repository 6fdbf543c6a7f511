// SPDX-License-Identifier: Apache-2.0
/*
 * encoder.ts — frames into a film by the encoders of the browser (WebCodecs), one after the other as they are drawn: frame i is
 * shown at i/fps, however long it took. Encoders in software are preferred: those of graphics cards need not give the
 * same bytes twice.
 */
import type { EncodedFilm, EncodedFrame } from "./container.js";
import { mp4File } from "./mp4.js";
import { webmFile } from "./webm.js";

export type FilmFormat = "mp4" | "webm";

export interface FilmSize {
	width: number; // [px], even
	height: number;
	fps: number;
}

const CODECS: Record<FilmFormat, readonly string[]> = {
	mp4: ["avc1.640034", "avc1.4d0034", "avc1.420034"], // H.264 high, main, baseline; level 5.2
	webm: ["vp09.00.51.08", "vp8"],
};
const BITS_PER_PIXEL = 0.2; // edges of a drawing stay sharp
const KEY_EVERY_S = 2;
const WAITING = 4; // frames that may wait for the encoder

/** How this browser encodes such films; null: it cannot. */
export async function filmConfig(format: FilmFormat, size: FilmSize): Promise<VideoEncoderConfig | null> {
	if (!("VideoEncoder" in window)) return null;
	const { width, height, fps } = size;
	for (const hardwareAcceleration of ["prefer-software", "no-preference"] as const)
		for (const codec of CODECS[format]) {
			const config: VideoEncoderConfig = {
				...{ codec, width, height, framerate: fps, hardwareAcceleration },
				...{ bitrate: Math.round(width * height * fps * BITS_PER_PIXEL), latencyMode: "quality" },
				...(format === "mp4" ? { avc: { format: "avc" } } : {}),
			};
			const found = await VideoEncoder.isConfigSupported(config).catch(() => null);
			if (found?.supported) return config;
		}
	return null;
}

export class FilmEncoder {
	private readonly encoder: VideoEncoder;
	private readonly config: VideoEncoderConfig;
	private readonly format: FilmFormat;
	private readonly frames: EncodedFrame[] = [];
	private description: Uint8Array = new Uint8Array();
	private failure: Error | null = null;
	private count = 0;
	private last = -1; // time of the newest encoded frame [µs]

	constructor(format: FilmFormat, config: VideoEncoderConfig) {
		this.format = format;
		this.config = config;
		this.encoder = new VideoEncoder({
			output: (chunk, more) => this.take(chunk, more),
			error: (error) => (this.failure = error),
		});
		this.encoder.configure(config);
	}

	private get fps(): number {
		return this.config.framerate!;
	}

	private take(chunk: EncodedVideoChunk, more?: EncodedVideoChunkMetadata): void {
		const record = more?.decoderConfig?.description;
		if (record && this.description.length === 0)
			this.description = ArrayBuffer.isView(record)
				? new Uint8Array(record.buffer, record.byteOffset, record.byteLength).slice()
				: new Uint8Array(record).slice();
		if (chunk.timestamp <= this.last)
			this.failure = new Error("the encoder of this browser mixes the order of frames");
		this.last = chunk.timestamp;
		const data = new Uint8Array(chunk.byteLength);
		chunk.copyTo(data);
		this.frames.push({ data, key: chunk.type === "key" });
	}

	/** The next frame; waits while the encoder has enough to do. */
	async add(canvas: HTMLCanvasElement): Promise<void> {
		const { encoder, fps } = this;
		const i = this.count++;
		const timestamp = Math.round((1e6 * i) / fps);
		const frame = new VideoFrame(canvas, { timestamp, duration: Math.round(1e6 / fps), alpha: "discard" });
		encoder.encode(frame, { keyFrame: i % Math.max(1, Math.round(KEY_EVERY_S * fps)) === 0 });
		frame.close();
		while (encoder.encodeQueueSize > WAITING && encoder.state === "configured" && !this.failure)
			await new Promise((done) => encoder.addEventListener("dequeue", done, { once: true }));
		if (this.failure) throw this.failure;
	}

	async finish(): Promise<Blob> {
		await this.encoder.flush();
		this.close();
		if (this.failure) throw this.failure;
		if (this.frames.length !== this.count) throw new Error("the encoder of this browser leaves frames out");
		const { codec, width, height } = this.config;
		const { description, frames, fps } = this;
		const film: EncodedFilm = { codec, width, height, fps, frames, description };
		return this.format === "mp4" ? mp4File(film) : webmFile(film);
	}

	close(): void {
		if (this.encoder.state !== "closed") this.encoder.close();
	}
}
