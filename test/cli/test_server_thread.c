// SPDX-License-Identifier: Apache-2.0
/*
 * test_server_thread.c — the server of live runs with several pages at once: what they send arrives whole and in order, ticks and
 * texts reach them whole, pages come and go, also without a word, and the server stops while some are there. Meant for
 * ThreadSanitizer, and useful without.
 */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../cli/server.h"

#ifdef CALDER_WITH_CIVETWEB

enum { PAGES = 5, MESSAGES = 20, TICK = 3000, WAIT_S = 60 };

/* ---- a page ----------------------------------------------------------------------------------------------------- */

static int connect_to(int port) {
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	const struct timeval patience = {.tv_sec = WAIT_S};
	const int page = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(page >= 0);
	setsockopt(page, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	assert_int_equal(connect(page, (const struct sockaddr *)&address, sizeof address), 0);
	return page;
}

static bool send_all(int page, const void *bytes, size_t size) {
	for (size_t done = 0; done < size;) {
		const ssize_t sent = send(page, (const char *)bytes + done, size - done, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
		done += (size_t)sent;
	}
	return true;
}

static bool receive_all(int page, void *bytes, size_t size) {
	for (size_t done = 0; done < size;) {
		const ssize_t got = recv(page, (char *)bytes + done, size - done, 0);
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* The handshake of a web socket; its answer ends with an empty line. */
static int open_page(int port) {
	char request[300], answer[1000] = "";
	const int page = connect_to(port);
	snprintf(request, sizeof request,
	         "GET /live HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
	         port);
	assert_true(send_all(page, request, strlen(request)));
	for (size_t i = 0; !strstr(answer, "\r\n\r\n"); i++) {
		assert_true(i + 1 < sizeof answer);
		assert_true(receive_all(page, answer + i, 1));
	}
	assert_non_null(strstr(answer, "101"));
	return page;
}

/* A short text, masked as pages have to. */
static bool say(int page, const char *text) {
	const size_t length = strlen(text);
	const uint8_t mask[4] = {0x12, 0x34, 0x56, 0x78};
	uint8_t frame[140] = {0x81, (uint8_t)(0x80 | length)};
	assert_true(length < 126);
	memcpy(frame + 2, mask, sizeof mask);
	for (size_t i = 0; i < length; i++)
		frame[6 + i] = (uint8_t)text[i] ^ mask[i % 4];
	return send_all(page, frame, 6 + length);
}

/* The next message into bytes[size]: its length, 0 if the connection has ended. *text: it is one. */
static size_t receive(int page, uint8_t *bytes, size_t size, bool *text) {
	uint8_t head[2], more[2];
	if (!receive_all(page, head, sizeof head))
		return 0;
	size_t length = head[1] & 0x7f;
	if (length == 126) {
		if (!receive_all(page, more, sizeof more))
			return 0;
		length = (size_t)more[0] << 8 | more[1];
	}
	*text = (head[0] & 0xf) == 1;
	if ((head[0] & 0xf) == 8 || length > size || !receive_all(page, bytes, length))
		return 0;
	return length;
}

/* ---- pages in threads --------------------------------------------------------------------------------------------- */

typedef struct Page {
	pthread_t thread;
	int port, number;
	int ticks, texts; // that came
	bool torn;        // one of them was not whole
} Page;

/* A tick is one byte many times over; anything else was torn. */
static void look_at(Page *p, const uint8_t *bytes, size_t length, bool text) {
	p->texts += text;
	p->ticks += !text;
	for (size_t i = 1; !text && i < length; i++)
		p->torn |= bytes[i] != bytes[0];
	p->torn |= !text && length != TICK;
	p->torn |= text && (bytes[0] != '{' || bytes[length - 1] != '}');
}

/* Sends its messages one by one, and takes what comes until a few ticks have come. */
static void *be_a_page(void *user) {
	Page *p = user;
	uint8_t bytes[TICK + 1000];
	bool text = false;
	const int page = open_page(p->port);
	for (int i = 0; i < MESSAGES; i++) {
		char message[60];
		snprintf(message, sizeof message, "{\"page\":%d,\"number\":%d}", p->number, i);
		p->torn |= !say(page, message);
		const size_t length = receive(page, bytes, sizeof bytes, &text);
		if (length)
			look_at(p, bytes, length, text);
		p->torn |= !length;
	}
	for (size_t length; p->ticks < 5 && (length = receive(page, bytes, sizeof bytes, &text)) > 0;)
		look_at(p, bytes, length, text);
	if (p->number % 2)
		say(page, "{\"last\":1}");
	close(page); // without saying goodbye
	return NULL;
}

/* ---- the run -------------------------------------------------------------------------------------------------------- */

static const char document[] = "{\"document\":{}}";

static Server *start(void) {
	char message[300] = "";
	const ServerOptions options = {
		.page = "<html>", .page_length = 6, .document = document, .tick_size = TICK, .port = 0};
	Server *server = server_start(&options, message, sizeof message);
	if (!server)
		fail_msg("%s", message);
	return server;
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

/* Takes the commands that are there: those of each page come in order. Returns how many were of pages. */
static int take_commands(Server *server, int next[PAGES]) {
	char text[SERVER_COMMAND_SIZE];
	int count = 0;
	while (server_command(server, text)) {
		int page, number;
		if (sscanf(text, "{\"page\":%d,\"number\":%d}", &page, &number) != 2)
			continue; // "release", when one has gone; "last"
		assert_in_range(page, 0, PAGES - 1);
		assert_int_equal(number, next[page]);
		next[page]++;
		count++;
	}
	return count;
}

static void pages_and_a_run_talk_at_once(void **state) {
	(void)state;
	Server *server = start();
	Page pages[PAGES] = {0};
	uint8_t tick[TICK];
	int next[PAGES] = {0}, taken = 0;
	for (int i = 0; i < PAGES; i++) {
		pages[i].port = server_port(server);
		pages[i].number = i;
		assert_int_equal(pthread_create(&pages[i].thread, NULL, be_a_page, &pages[i]), 0);
	}
	for (int i = 0; taken < PAGES * MESSAGES || server_clients(server) > 0; i++) {
		assert_true(i < 1000 * WAIT_S);
		memset(tick, i % 251, sizeof tick);
		server_tick(server, tick);
		if (i % 16 == 0)
			server_say(server, "{\"state\":{\"running\":true}}");
		taken += take_commands(server, next);
		pause_ms(1);
	}
	for (int i = 0; i < PAGES; i++) {
		pthread_join(pages[i].thread, NULL);
		assert_false(pages[i].torn);
		assert_true(pages[i].ticks >= 5 && pages[i].texts >= 1);
	}
	server_stop(server);
}

/* More pages come than there is room for, say nothing, and are still there when the server stops. */
static void a_server_stops_with_pages_that_stay(void **state) {
	(void)state;
	Server *server = start();
	uint8_t tick[TICK];
	int pages[4];
	for (int i = 0; i < 4; i++)
		pages[i] = open_page(server_port(server));
	for (int i = 0; i < 40; i++) {
		memset(tick, i, sizeof tick);
		server_tick(server, tick);
		server_say(server, "{\"event\":{}}");
		pause_ms(1);
	}
	close(pages[0]);
	server_stop(server);
	for (int i = 1; i < 4; i++)
		close(pages[i]);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_and_a_run_talk_at_once),
		cmocka_unit_test(a_server_stops_with_pages_that_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
